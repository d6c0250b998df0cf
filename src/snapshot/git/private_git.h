/*
 * A private git directory: what git inside the fence takes for the project's .git.
 *
 *	FOLDER/git/		the directory: own configuration, index, refs, hooks, logs; the agent's to change
 *	FOLDER/git-own/base	its refs when it began, as packed-refs; out of the agent's reach, as all of git-own
 *	FOLDER/git-own/file	shown instead of a .git that is a file
 *	FOLDER/git-own/none	shown instead of a list of alternates, whose paths mean nothing inside
 *
 * Objects that the user's repository has are borrowed: they are shown inside, read-only, at PRIVATE_GIT_OBJECTS/N.
 * On the host nobody runs git in it, and nothing of it is read but objects and refs (import.h).
 */
#ifndef SNAPSHOT_GIT_PRIVATE_GIT_H
#define SNAPSHOT_GIT_PRIVATE_GIT_H

#include "snapshot/git/borrow.h"
#include "util/json.h"

/* Inside. */
#define PRIVATE_GIT_PLACE   "/run/ringfence/git"
#define PRIVATE_GIT_OBJECTS "/run/ringfence/objects"

/* Makes it, unless it is there. Whoever is killed here leaves a draft, which the next one replaces. Returns 0,
 * or -1 with err set. */
int private_git_make(const char *folder, const struct borrow *borrow, struct error *err);

/* What is to be shown where inside, as a list "covers" of JSON. */
void private_git_tell(const char *folder, const char *project, const struct borrow *borrow,
		      struct json *json);

#endif
