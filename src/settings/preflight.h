/* Checks that refuse a loop before it starts, if it could only fail or end too soon. */
#ifndef SETTINGS_PREFLIGHT_H
#define SETTINGS_PREFLIGHT_H

#include "config/config.h"
#include "fence/fence_plan.h"
#include "util/error.h"

/* All return 0, or -1 with err set. */

/* Refuses if the project's file sets `id` but is not trusted, and the user sets neither `id` nor
 * `instead`: without that check or agent, the loop would be a different one. */
int preflight_inactive(const struct config *config, enum setting_id id, enum setting_id instead,
		       struct error *err);

/* Refuses a missing task list. The path is relative to the project. */
int preflight_missing(const char *project, const char *tasks, struct error *err);

/* Refuses a project that the user cannot write to, unless the loop is read-only. */
int preflight_unwritable(const struct fence_spec *spec, const char *project, struct error *err);

/* Refuses a command line whose program exists on the host but is hidden by the fence. */
int preflight_hidden(const struct fence_plan *plan, const char *what, const char *line,
		     struct error *err);

#endif
