/*
 * A work tree of a loop's own: linked to the user's repository, as git worktree add makes it, on the branch
 * ringfence/LOOP, in a folder of Ringfence's. Files are written as they are stored: no filter is run.
 *
 * Each step can be made again, or undone, by what is on the disk alone.
 */
#ifndef SNAPSHOT_APPLY_WORKTREE_H
#define SNAPSHOT_APPLY_WORKTREE_H

#include "util/error.h"
#include "util/json.h"

#include <stdbool.h>

struct worktree_options {
	const char *project; /* of the user's; of seal: the loop's */
	const char *loop;
	const char *folder;  /* an empty one, the loop's alone; the work tree comes into it */
	const char *message; /* of the commit that seal makes */
	bool force;          /* remove: the branch goes even if nobody else has its commits */
};

/* Makes it from the commit that the user has checked out. Answers: folder (the project in it), work_tree, commit, dirty (what
 * the user has not committed, and so is not in it), submodules. Returns 0, or -1 with err set. */
int worktree_add(const struct worktree_options *options, struct json *json, struct error *err);

/* Commits what is there and not committed on top of its branch, as Ringfence. Answers: commit, made. */
int worktree_seal(const struct worktree_options *options, struct json *json, struct error *err);

/* Takes such a commit off its branch again, for a loop that goes on; the files stay. Answers: taken. */
int worktree_unseal(const struct worktree_options *options, struct json *json, struct error *err);

/* Removes what the user's repository knows of it; the folder is the caller's affair. The branch goes, too, if another
 * one has its commits. Answers: branch, one of gone, kept and none. */
int worktree_remove(const struct worktree_options *options, struct json *json, struct error *err);

#endif
