/* Rules for places that are shown at another path than their own. */
#ifndef FENCE_PLAN_COVER_H
#define FENCE_PLAN_COVER_H

#include "fence/fence_plan.h"

/* Adds the rules of the spec's covers, and removes those that were found at or below such a path. A
 * rule that a person made there outweighs all of them. Returns 0, or -1 with err set. */
int cover_add(struct fence_plan *plan, struct error *err);

#endif
