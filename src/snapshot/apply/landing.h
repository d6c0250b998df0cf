/*
 * The part of an apply that changes the user's work tree, index and branch; see apply.h.
 */
#ifndef SNAPSHOT_APPLY_LANDING_H
#define SNAPSHOT_APPLY_LANDING_H

#include "snapshot/apply/delta.h"
#include "util/json.h"

/* The file in the git directory. */
#define LANDING_NOTE "ringfence-apply"

struct landing {
	git_oid old, new; /* commits; old is zero on a branch without one */
	const char *branch;
	const char *log;
};

/* What came of it: how many were written and removed, and what was left as the user has made it meanwhile. */
struct landing_result {
	uint64_t written, removed;
	struct list left;
};

/* From one commit to another, with what delta_look() has found; the lock is held. Returns 0, or -1 with err set. */
int landing_make(struct user_repo *user, const struct landing *landing, struct delta_set *deltas,
		 struct landing_result *ret_result, struct error *err);

/* Is one under way in this git directory? */
bool landing_pending(int git);

/* Finishes it; the lock is held. What the user has changed since is left as it is. Returns 0, or -1 with err set. */
int landing_finish(struct user_repo *user, struct landing_result *ret_result, struct error *err);

#endif
