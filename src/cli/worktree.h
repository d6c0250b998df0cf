/* A work tree of a loop's own: made before it begins, and removed with it. */
#ifndef CLI_WORKTREE_H
#define CLI_WORKTREE_H

#include "cli/settings/effective.h"

#include <jansson.h>

/* One that is being made. */
struct worktree {
	char *id;     /* of the loop to come */
	char *origin; /* the user's project */
	char *root;   /* the work tree */
	int lock;     /* nobody takes it for one that was left behind, as long as this is open */
};

#define WORKTREE_INIT ((struct worktree){ .lock = -1 })

/* Makes it, and moves there what was meant for the user's project: from then on that is the place of what is applied, and
 * paths in it mean the same ones here. Says what is not in it. Returns 0, or -1 with err set. */
int worktree_make(struct effective *effective, struct worktree *ret_worktree, struct error *err);

/* Removes it, if no loop has begun in it. */
void worktree_undo(const char *state, struct worktree *worktree);
void worktree_release(struct worktree *worktree);

/* Removes what a loop has in the user's repository, and its work tree. force: the branch goes, even if nobody else has
 * its commits. *bytes grows by what that frees; *ret_kept: the branch stays. Returns 0, or -1 with err set. */
int worktree_drop(const char *state, const char *id, const char *origin, bool force,
		  uint64_t *bytes, bool *ret_kept, struct error *err);

/* Finishes an apply in this project that was cut off, if there is one. Returns 0, or -1 with err set. */
int worktree_finish_apply(const char *state, const char *project, struct error *err);

/* Removes those whose making was cut off. */
void worktree_sweep(const char *state);

#endif
