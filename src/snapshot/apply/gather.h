/*
 * Collects the files of a loop's work tree into a git tree: tracked files, and new files that are
 * not ignored. Symlinks are stored as such, opening a file never blocks, and no filter is run.
 */
#ifndef SNAPSHOT_APPLY_GATHER_H
#define SNAPSHOT_APPLY_GATHER_H

#include "snapshot/apply/memory_objects.h"
#include "snapshot/apply/user_repo.h"

/*
 * Writes the files to the repository and a new index beside the current one, for
 * user_repo_put_index(). Trees stay in memory, so that they can be checked before they are written.
 * Nothing is synced. The caller holds the lock. Returns 0, or -1 with err set.
 */
int gather_tree(const struct user_repo *user, git_oid *ret_tree,
		struct memory_objects **ret_objects, struct error *err);

#endif
