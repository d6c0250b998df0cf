/* Paths as a person writes them. */
#ifndef FENCE_PLAN_PLACE_H
#define FENCE_PLAN_PLACE_H

#include "fence/fence_plan.h"

/* The text with a leading ~ expanded, made absolute; not resolved. The caller frees. */
char *place_spelled(const char *home, const char *text, const char *base);

/* The real path of something that must exist. The caller frees; NULL with err set. */
char *place_resolve(const char *option, const char *path, struct error *err);

#endif
