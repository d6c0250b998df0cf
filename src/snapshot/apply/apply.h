/*
 * Brings a branch into the one that the user has checked out.
 *
 * First everything is found out in memory (merge.h, delta.h): what is in conflict, or in the way, is told, and
 * nothing is changed. Then all that comes is written to the disk where it harms nobody: objects, and files in a folder
 * at the work tree's root. A note in the git directory says what is under way. Only then files are moved into their
 * places, the index is replaced, and the branch is moved, with a line in its log. index.lock is held all the time. If
 * this process is killed behind the note, whoever comes next finishes it; before it, nothing has happened.
 */
#ifndef SNAPSHOT_APPLY_APPLY_H
#define SNAPSHOT_APPLY_APPLY_H

#include "util/error.h"
#include "util/json.h"

#include <stdbool.h>

struct apply_options {
	const char *project;
	const char *branch;  /* refs/heads/ringfence/ID */
	const char *message; /* of a commit, if one is made */
	const char *log;     /* for the log of the user's branch */
	const char *tree; /* what the caller was told that comes of it; NULL: they have not asked */
	bool here;   /* the loop worked in this work tree: what is there comes after its commits */
	bool squash; /* one commit, whose only parent is the user's */
	bool dry;
	bool terminal; /* a patch is shown to a person: control characters are escaped */
};

/* Does it, and adds what came of it to an object: kind, branch, old, new, tree, commits, conflicts, in_the_way, changes,
 * left. Returns 0, or -1 with err set. */
int apply_branch(const struct apply_options *options, struct json *json, struct error *err);

/* Finishes one that was cut off, if there is one in the repository that the project lies in: recovered, recovered_left. */
int apply_finish(const char *project, struct json *json, struct error *err);

/* Prints the branch as mails that git am takes; adds commits, changes and obeyed. */
int apply_patch(const struct apply_options *options, struct json *json, struct error *err);

#endif
