/*
 * Work on the user's own repository:
 *
 *	apply		brings a branch in (apply.h), patch prints it, finish finishes what was cut off
 *	worktree	makes a work tree for a loop (worktree.h)
 *	seal, unseal	commit what is left in it, and take that back
 *	forget		removes what the repository knows of a loop
 */
#ifndef SNAPSHOT_USERWORK_H
#define SNAPSHOT_USERWORK_H

#include "snapshot/apply/apply.h"
#include "snapshot/apply/worktree.h"

struct userwork {
	struct apply_options apply;
	struct worktree_options worktree;
};

/* Is this the name of such a work? */
bool userwork_is(const char *name);

/* Returns 0, or -1 with err set. */
int userwork_run(const char *name, const char *project, const char *loop, struct userwork *work,
		 struct json *json, struct error *err);

#endif
