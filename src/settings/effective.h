/* The effective settings of a project, and the fence spec that follows from them. */
#ifndef SETTINGS_EFFECTIVE_H
#define SETTINGS_EFFECTIVE_H

#include "config/config.h"
#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "util/error.h"
#include "util/taint.h"

#include <jansson.h>

/* spec.project is the project as the user named it; NULL means the current directory. */
struct effective {
	struct fence_spec spec;
	struct fence_place place;
	struct config config;
};

void effective_init(struct effective *effective);
void effective_release(struct effective *effective);

/* The `set` callback of a command whose options begin with a struct effective. */
int effective_set(void *options, const struct setting *setting, const char *value,
		  struct error *err);

/* Like fence_place_find(), with a clearer error if the project does not exist. */
int effective_find(const char *project, struct fence_place *ret_place, struct error *err);

/* Finds the project and loads its configuration. Returns 0, or -1 with err set. */
int effective_load(struct effective *effective, struct error *err);

/* Loads the configuration and fills the spec from its active values. */
int effective_spec(struct effective *effective, struct error *err);

/* Like effective_spec(), with the defaults of a loop. A default limit that this machine cannot
 * enforce is reported, not refused. */
int effective_loop(struct effective *effective, struct error *err);

/* Says what a command can change with these settings. The caller releases *ret_taint. */
void effective_taint(const struct effective *effective, struct taint *ret_taint);

/* Adds access to models, if it is wanted or a tape is used. Returns 0, or -1 with err set. */
int effective_models(struct effective *effective, bool wanted, struct error *err);

/* The setting of a limit. */
enum setting_id effective_limit_setting(enum fence_limit limit);

/* The value of a numeric setting in a loop. */
uint64_t effective_loop_number(const struct config *config, enum setting_id id);

/* Returns the active entries of a list as JSON texts. The caller owns it. */
json_t *effective_words(const struct config *config, enum setting_id id);

#endif
