/*
 * What a loop's work tree holds, as a tree of git's: what git tracks, and what is new and not ignored. Symlinks are
 * kept as such, nothing is waited for, and no filter is run.
 */
#ifndef SNAPSHOT_APPLY_GATHER_H
#define SNAPSHOT_APPLY_GATHER_H

#include "snapshot/apply/memory_objects.h"
#include "snapshot/apply/user_repo.h"

/* Writes its files into the repository, and an index beside the one in force, for user_repo_put_index(). Trees are drafts, so that they can be looked
 * at before they are kept. The lock is held. Returns 0, or -1 with err set. */
int gather_tree(const struct user_repo *user, git_oid *ret_tree, struct memory_objects **ret_drafts,
		struct error *err);

#endif
