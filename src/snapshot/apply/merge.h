/*
 * Merges two branches in memory. The result is a tree, or a description of the conflicts for the
 * user.
 */
#ifndef SNAPSHOT_APPLY_MERGE_H
#define SNAPSHOT_APPLY_MERGE_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>

enum { MERGE_CONFLICTS = 200 };

enum merge_kind {
	MERGE_NOTHING,  /* ours contains theirs */
	MERGE_FORWARD,  /* theirs contains ours */
	MERGE_TRUE,     /* both have commits of their own, without conflicts */
	MERGE_CONFLICT, /* it does not */
};

struct merge {
	enum merge_kind kind;
	git_oid tree;      /* unless there are conflicts */
	size_t commits;    /* in theirs but not in ours */
	struct list paths; /* of the first conflicts */
	struct list words; /* a description for each path */
	size_t conflicts;  /* total number */
};

/*
 * ours: NULL for a branch without a commit. The caller releases the merge in both cases. Returns 0,
 * or -1 with err set.
 */
int merge_try(git_repository *repository, const git_oid *ours, const git_oid *theirs,
	      struct merge *ret_merge, struct error *err);
void merge_release(struct merge *merge);

#endif
