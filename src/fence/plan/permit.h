/* Refuses paths that no user may make writable, readable or hidden. */
#ifndef FENCE_PLAN_PERMIT_H
#define FENCE_PLAN_PERMIT_H

#include "fence/fence_plan.h"

/* Check whether this real path may be made writable, readable or hidden. `option` is named in the
 * error. Return 0, or -1 with err set. */
int permit_writable(const struct fence_plan *plan, const char *option, const char *path,
		    struct error *err);
int permit_readable(const struct fence_plan *plan, const char *option, const char *path,
		    struct error *err);
int permit_hidden(const struct fence_plan *plan, const char *option, const char *path,
		  struct error *err);

/* Returns the folder of the user's settings, not resolved, or NULL without a home. The caller frees
 * it. */
char *permit_settings_folder(const struct fence_plan *plan);

/* Returns the real path of the deepest existing part of a path. The caller frees it. */
char *permit_deepest(const char *path);

#endif
