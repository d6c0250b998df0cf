/* What is refused before a loop begins, because it could only fail or end too soon. */
#ifndef CLI_SETTINGS_PREFLIGHT_H
#define CLI_SETTINGS_PREFLIGHT_H

#include "config/config.h"
#include "fence/fence_plan.h"
#include "util/error.h"

/* All return 0, or -1 with err set. */

/* Without a check or an agent that the project's file asks for, and nobody has agreed to, the loop would be another one:
 * a person agrees, or names his own. */
int preflight_inactive(const struct config *config, enum setting_id id, enum setting_id instead,
		       struct error *err);

/* A task list that is not there has no boxes; the path is meant from the project. */
int preflight_missing(const char *project, const char *tasks, struct error *err);

/* A project in which nobody may write, for a loop that is to change something. */
int preflight_unwritable(const struct fence_spec *spec, const char *project, struct error *err);

/* A command line whose program the host has, but the fence does not show. */
int preflight_hidden(const struct fence_plan *plan, const char *what, const char *line,
		     struct error *err);

#endif
