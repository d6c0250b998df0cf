/* Which of several rules holds. */
#ifndef FENCE_PLAN_RULESET_H
#define FENCE_PLAN_RULESET_H

#include "fence/fence_plan.h"

/* Drops the rules of a project's own file that another one contradicts. Call it before anything else
 * is dropped: a rule that says nothing new may still be the one to give way to. */
void ruleset_drop_weak(struct fence_plan *plan);

/*
 * Sorts the rules and drops those that say nothing new: beaten at the same path, or with the same
 * access as the rule above them. The rest is one mount each, parents first.
 */
void ruleset_collapse(struct fence_plan *plan);

/* -1 with err set if there are more than a fence can hold. */
int ruleset_refuse_too_many(const struct fence_plan *plan, struct error *err);

#endif
