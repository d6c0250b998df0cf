/*
 * What comes of bringing one line of commits into another, found out in memory: a tree, or what is in conflict, in
 * words for the one who has to decide.
 */
#ifndef SNAPSHOT_APPLY_MERGE_H
#define SNAPSHOT_APPLY_MERGE_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>
#include <stdbool.h>

enum { MERGE_CONFLICTS = 200 };

enum merge_kind {
	MERGE_NOTHING,  /* ours has all of theirs */
	MERGE_FORWARD,  /* theirs has all of ours */
	MERGE_TRUE,     /* both have something of their own, and it fits together */
	MERGE_CONFLICT, /* it does not */
};

struct merge {
	enum merge_kind kind;
	git_oid tree;      /* of the first three */
	size_t commits;    /* that theirs has and ours has not */
	struct list paths; /* of conflicts */
	struct list words; /* for each of these */
	size_t conflicts;  /* of which these are the first */
};

/* ours NULL: a branch without a commit. The caller releases in any case. Returns 0, or -1 with err set. */
int merge_try(git_repository *repository, const git_oid *ours, const git_oid *theirs,
	      struct merge *ret_merge, struct error *err);
void merge_release(struct merge *merge);

#endif
