/* The part of an apply that changes the user's work tree, index and branch; see apply.h. */
#ifndef SNAPSHOT_APPLY_LANDING_H
#define SNAPSHOT_APPLY_LANDING_H

#include "snapshot/apply/delta.h"
#include "util/text/json.h"

/* The file in the git directory that records the operation. */
#define LANDING_NOTE "ringfence-apply"

struct landing {
	git_oid old, new; /* commits; old is zero if the branch has none */
	const char *branch;
	const char *log;
};

/* left: files that the user changed in the meantime, which were kept. */
struct landing_result {
	uint64_t written, removed;
	struct list left;
};

/*
 * Moves from one commit to another, with the changes that delta_classify() found. The caller holds
 * the lock. Returns 0, or -1 with err set.
 */
int landing_run(struct user_repo *user, const struct landing *landing, struct delta_set *deltas,
		struct landing_result *ret_result, struct error *err);

/* Reports whether an operation is recorded in this git directory. */
bool landing_pending(int git);

/*
 * Completes an interrupted operation. The caller holds the lock. Files that the user has changed
 * since are kept. Returns 0, or -1 with err set.
 */
int landing_finish(struct user_repo *user, struct landing_result *ret_result, struct error *err);

#endif
