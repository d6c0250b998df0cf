/* What somebody may ask for: paths that nobody may make writable, readable or hidden are refused. */
#ifndef FENCE_PLAN_PERMIT_H
#define FENCE_PLAN_PERMIT_H

#include "fence/fence_plan.h"

/* May this real path be writable, readable, hidden? `option` is who asks. Return 0, or -1 with the
 * reason. */
int permit_writable(const struct fence_plan *plan, const char *option, const char *path,
		    struct error *err);
int permit_readable(const struct fence_plan *plan, const char *option, const char *path,
		    struct error *err);
int permit_hidden(const struct fence_plan *plan, const char *option, const char *path,
		  struct error *err);

/* Where the user's own settings are, as text; the caller frees. NULL without a home. */
char *permit_settings_folder(const struct fence_plan *plan);

/* The real path of the part of a path that exists; the caller frees. */
char *permit_deepest(const char *path);

#endif
