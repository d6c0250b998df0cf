/* The parts of making a plan: what may be asked for, and which of several rules holds. */
#ifndef FENCE_PLAN_POLICY_H
#define FENCE_PLAN_POLICY_H

#include "fence/fence_plan.h"

/* The text with a leading ~ expanded, made absolute; not resolved. The caller frees. */
char *place_spelled(const char *home, const char *text, const char *base);

/* The real path of something that must exist. The caller frees; NULL with err set. */
char *place_resolve(const char *option, const char *path, struct error *err);

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

/* The real path of as much of a path as is there; the caller frees. */
char *permit_deepest(const char *path);

/* Drops the rules of a project's own file that another one is against. Before anything else is dropped: a
 * rule that says nothing new may still be the one to give way to. */
void rules_drop_weak(struct fence_plan *plan);

/* Adds the rules of what is shown at another path than its own, and takes away those that were found at or below
 * such a path. A rule that a person made there outweighs all of them. Returns 0, or -1 with err set. */
int cover_add(struct fence_plan *plan, struct error *err);

/*
 * Sorts the rules and drops those that say nothing new: beaten at the same path, or with the same access
 * as the rule above them. What is left is one mount each, parents first.
 */
void rules_collapse(struct fence_plan *plan);

/* -1 with err set if there are more than a fence can hold. */
int rules_refuse_too_many(const struct fence_plan *plan, struct error *err);

#endif
