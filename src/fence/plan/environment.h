/* The command's environment: a few of the caller's variables, the fence's own, and --env. */
#ifndef FENCE_PLAN_ENVIRONMENT_H
#define FENCE_PLAN_ENVIRONMENT_H

#include "fence/fence_plan.h"

/* Fills plan->environment. Returns 0, or -1 with err set. */
int environment_make(struct fence_plan *plan, struct error *err);

#endif
