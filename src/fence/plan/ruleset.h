/* The rules of a plan, and their precedence: which of several rules applies. */
#ifndef FENCE_PLAN_RULESET_H
#define FENCE_PLAN_RULESET_H

#include "fence/fence_plan.h"

/* Each rule is a mount, and a canary compares every mount with every rule: 5,000 rules take a
 * second and a half. */
enum { RULESET_MOST = 5000 };

struct stat;

/* Adds a rule for a real path with the given status. */
void ruleset_add(struct fence_plan *plan, const char *path, const struct stat *status,
		 enum wire_access access, const char *origin, bool exact);

/* Adds a rule for a path, unless it is missing or a symlink. */
void ruleset_add_existing(struct fence_plan *plan, const char *path, enum wire_access access,
			  const char *origin, bool exact);

/* Drops weak rules that another rule overrides, with a notice. Call it before ruleset_collapse(): a
 * weak rule also yields to a redundant one. */
void ruleset_drop_weak(struct fence_plan *plan);

/*
 * Sorts the rules and drops redundant ones: those beaten at the same path, or with the same access
 * as the rule above them. Each rule that remains becomes one mount, parents first.
 */
void ruleset_collapse(struct fence_plan *plan);

/* Returns the rule that governs a path, or NULL. The same as fence_plan_decide(), but fast; only
 * after ruleset_collapse(). */
const struct fence_rule *ruleset_find(const struct fence_plan *plan, const char *path);

/* Returns 0, or -1 with err set if there are more rules than a fence can hold. */
int ruleset_refuse_too_many(const struct fence_plan *plan, struct error *err);

#endif
