/*
 * Merges a loop's branch into the branch that the user has checked out.
 *
 * The result is first computed in memory (merge.h, delta.h); if there are conflicts or obstacles,
 * they are reported and nothing changes. Then objects are written to the repository and files to a
 * staging folder at the root of the work tree, where they do no harm, and a file in the git
 * directory records the operation. Only then are files moved into place, the index replaced and the
 * branch moved, with a reflog entry. index.lock is held throughout. If this process is killed after
 * the record was written, the next one completes the operation; if before, nothing has happened.
 */
#ifndef SNAPSHOT_APPLY_APPLY_H
#define SNAPSHOT_APPLY_APPLY_H

#include "util/error.h"
#include "util/text/json.h"

#include <stdbool.h>

struct apply_options {
	const char *project;
	const char *branch;  /* refs/heads/ringfence/ID */
	const char *message; /* of a commit, if one is created */
	const char *log;     /* reflog message for the user's branch */
	const char *tree;    /* the resulting tree that the caller was shown, or NULL */
	const char *theirs;  /* the loop's commit that the caller was shown, or NULL */
	const char *remote;  /* of a patch that is a review before a push to it, or NULL */
	bool here;   /* the loop ran in this work tree: its files may be newer than its commits */
	bool squash; /* create one commit whose only parent is the user's */
	bool dry;
	bool terminal; /* escape control characters in a patch */
};

/*
 * Applies the branch, and adds the result to the answer: kind, branch, old, new, tree, theirs,
 * commits, conflicts, in_the_way, changes, history, left. Returns 0, or -1 with err set.
 */
int apply_branch(const struct apply_options *options, struct json *json, struct error *err);

/*
 * Completes an interrupted apply in the repository of the project, if there is one, and adds
 * recovered and recovered_left. Returns 0, or -1 with err set.
 */
int apply_finish(const char *project, struct json *json, struct error *err);

/*
 * Prints the branch as mails for git am; adds commits, changes and obeyed. Returns 0, or -1 with
 * err set.
 */
int apply_patch(const struct apply_options *options, struct json *json, struct error *err);

#endif
