/*
 * A loop's own work tree: linked to the user's repository as git worktree add does, on the branch
 * ringfence/LOOP, in a folder of Ringfence's state. Files are written as they are stored: no filter
 * is run.
 *
 * Each step can be repeated or undone from the state on disk alone.
 */
#ifndef SNAPSHOT_APPLY_WORKTREE_H
#define SNAPSHOT_APPLY_WORKTREE_H

#include "util/error.h"
#include "util/text/json.h"

#include <stdbool.h>

struct worktree_options {
	const char *project; /* the user's; for leftovers: the loop's */
	const char *loop;
	const char *folder;  /* an empty folder for the work tree */
	const char *message; /* of the commit of leftovers */
	bool force;          /* remove: delete the branch even if no other ref has its commits */
};

/*
 * Creates the work tree from the commit that the user has checked out. Answers: folder (the project
 * in it), work_tree, commit, dirty (the user's uncommitted changes, which are not in it),
 * submodules. Returns 0, or -1 with err set.
 */
int worktree_add(const struct worktree_options *options, struct json *json, struct error *err);

/*
 * Commits uncommitted files on top of the loop's branch, as Ringfence. Answers: commit, made.
 * Returns 0, or -1 with err set.
 */
int worktree_commit_leftovers(const struct worktree_options *options, struct json *json,
			      struct error *err);

/*
 * Removes such a commit from the branch when the loop continues; the files stay. Answers: taken.
 * Returns 0, or -1 with err set.
 */
int worktree_uncommit_leftovers(const struct worktree_options *options, struct json *json,
				struct error *err);

/*
 * Removes the work tree from the user's repository; the caller removes the folder. The branch is
 * deleted if another ref has its commits. Answers: branch, which is gone, kept or none. Returns 0,
 * or -1 with err set.
 */
int worktree_remove(const struct worktree_options *options, struct json *json, struct error *err);

#endif
