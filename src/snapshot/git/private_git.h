/*
 * A private git directory, which appears inside the fence as the project's .git.
 *
 *	FOLDER/git/		the directory with its own configuration, index, refs, hooks and
 *				logs; the agent can change it
 *	FOLDER/git-own/base	its initial refs, as packed-refs; the agent cannot reach git-own
 *	FOLDER/git-own/began	the commit of its initial HEAD, or the empty tree if there was none
 *	FOLDER/git-own/file	mounted over a .git that is a file
 *	FOLDER/git-own/index	its initial index
 *	FOLDER/git-own/hidden	paths that the fence hides (hidden_paths.h)
 *	FOLDER/git-own/none	mounted over lists of alternates, whose paths do not exist inside
 *
 * Objects of the user's repository are borrowed: they are mounted read-only at
 * BORROW_OBJECTS/N. Nobody runs git in the directory on the host, which reads only its objects
 * and refs (import.h).
 */
#ifndef SNAPSHOT_GIT_PRIVATE_GIT_H
#define SNAPSHOT_GIT_PRIVATE_GIT_H

#include "snapshot/git/borrow.h"
#include "util/text/json.h"

/* Inside the fence. */
#define PRIVATE_GIT_PLACE "/run/ringfence/git"

struct private_git_options {
	const char *folder, *loop;
	/* Paths in the project that the fence hides. Git inside treats them as unchanged if they
	 * are tracked, and ignores them otherwise. A directory that is made again takes those of
	 * the first. */
	const struct list *hidden;
	const char *head; /* the commit that a new directory begins with; NULL: the user's HEAD */
};

/*
 * Creates the directory of a loop unless it exists. A killed process leaves a temporary folder,
 * which the next one replaces. A damaged directory becomes FOLDER/git.damaged, *ret_again is set,
 * and the new one continues from the commits that were imported. Returns 0, or -1 with err set.
 */
int private_git_make(const struct private_git_options *options, const struct borrow *borrow,
		     bool *ret_again, struct error *err);

/*
 * Reports whether files in above/git are empty that git never leaves empty. The agent's git does
 * not sync what it writes, so a power cut can do that.
 */
bool private_git_is_damaged(int above);

/* Writes the commit, or the tree, that the directory began with, as "began". A directory of an
 * earlier version does not know it. */
void private_git_write_began(const char *folder, struct json *json);

/* Writes the mounts needed inside the fence as the JSON list "covers". */
void private_git_write_covers(const char *folder, const char *project, const struct borrow *borrow,
			      struct json *json);

#endif
