/* From what is set to what the fence is asked for. */
#ifndef CLI_SETTINGS_EFFECTIVE_H
#define CLI_SETTINGS_EFFECTIVE_H

#include "config/config.h"
#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "util/error.h"

/* A project, what is set for it, and what the fence is asked for. spec.project is what it was named
 * as (NULL: the current directory). */
struct effective {
	struct fence_spec spec;
	struct fence_place place;
	struct config config;
};

void effective_init(struct effective *effective);
void effective_release(struct effective *effective);

/* The `set` of a command whose options begin with a struct effective. */
int effective_set(void *options, const struct setting *setting, const char *value,
		  struct error *err);

/* fence_place_find(), with what to do when there is no such project. */
int effective_find(const char *project, struct fence_place *ret_place, struct error *err);

/* Finds the project's place and loads its configuration on top of what options have set. Returns 0,
 * or -1 with err set. */
int effective_load(struct effective *effective, struct error *err);

/* The same, and adds what holds of it to the spec. */
int effective_spec(struct effective *effective, struct error *err);

/* The same for a loop: what nobody has set has other defaults there, and one of those that cannot be kept
 * here is reported, not refused. */
int effective_loop(struct effective *effective, struct error *err);

/* Adds the way to models, if there is one. Returns 0, or -1 with err set. */
int effective_models(struct effective *effective, bool wanted, struct error *err);

/* The number of a setting in a loop. */
uint64_t effective_loop_number(const struct config *config, enum setting_id id);

/* Says all that is wrong, and returns the status for "refused". */
int effective_fail(const struct config *config, const struct error *err);

#endif
