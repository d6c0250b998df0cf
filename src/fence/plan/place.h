/* Paths as users write them. */
#ifndef FENCE_PLAN_PLACE_H
#define FENCE_PLAN_PLACE_H

#include "fence/fence_plan.h"

/* Expands a leading ~ and makes the path absolute, without resolving symlinks. The caller frees the
 * result. */
char *place_spelled(const char *home, const char *text, const char *base);

/* Returns the real path of a file that must exist, or NULL with err set. The caller frees it. */
char *place_resolve(const char *option, const char *path, struct error *err);

#endif
