/* Rules for paths that are mounted over others. */
#ifndef FENCE_PLAN_COVER_H
#define FENCE_PLAN_COVER_H

#include "fence/fence_plan.h"

/* Adds rules for the spec's covers and removes the rules that they hide. If the user named a
 * covered path, adds a notice and no cover. Returns 0, or -1 with err set. */
int cover_add(struct fence_plan *plan, struct error *err);

#endif
