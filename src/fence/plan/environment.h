/* The command's environment: scrubbed, then what was asked for. */
#ifndef FENCE_PLAN_ENVIRONMENT_H
#define FENCE_PLAN_ENVIRONMENT_H

#include "fence/fence_plan.h"

/* Fills plan->environment. Returns 0, or -1 with err set. */
int environment_make(struct fence_plan *plan, struct error *err);

/* Wipes the environment of this process itself. */
void environment_wipe(void);

#endif
