/* From what is set to what the fence is asked for. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "config/config.h"
#include "fence/fence.h"
#include "util/error.h"

/* Judges values whose form the fence knows; for config_add_flag(). */
int apply_judge(const struct setting *setting, const char *text, struct error *err);

/* Finds the place of a project (NULL: the current directory) and loads its configuration on top of
 * what config has. Returns 0, or -1 with err set; the caller releases both either way. */
int apply_load(const char *project, struct fence_place *place, struct config *config,
	       struct error *err);

/* Says all that is wrong, and returns the status for "refused". */
int apply_fail(const struct config *config, const struct error *err);

/* Adds to a spec what holds of a configuration, which must outlive it. Returns 0, or -1 with err set. */
int apply_config(const struct config *config, struct fence_spec *spec, struct error *err);

/* The same for a loop: what nobody has set has other defaults there, and one of those that cannot be kept
 * here is reported, not refused. */
int apply_loop(const struct config *config, struct fence_spec *spec, struct error *err);

/* The number of a setting in a loop. */
uint64_t apply_loop_number(const struct config *config, enum setting_id id);

#endif
