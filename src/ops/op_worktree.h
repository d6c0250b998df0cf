/* Work trees of loops: created before a loop starts, and removed with the loop. */
#ifndef OPS_OP_WORKTREE_H
#define OPS_OP_WORKTREE_H

#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "ops/op.h"
#include "util/list.h"

struct op_worktree_request {
	const char *state;   /* Ringfence's state folder */
	const char *project; /* the user's project */
};

/* A new work tree. While `lock` is open, op_worktree_sweep() does not treat it as a leftover. */
struct op_worktree_result {
	char *id;      /* the future loop's id */
	char *origin;  /* the user's project */
	char *root;    /* the work tree */
	char *project; /* the folder in the work tree that corresponds to `origin` */
	int lock;
	struct list uncommitted; /* the first uncommitted paths, which the work tree lacks */
	size_t uncommitted_count;
	struct list submodules; /* these are empty folders in the work tree */
};

#define OP_WORKTREE_INIT ((struct op_worktree_result){ .lock = -1 })

/* Creates a work tree and reserves an id for its loop. */
enum op_status op_worktree(const struct op_worktree_request *request,
			   struct op_worktree_result *ret_result, struct error *err);

/* Moves the place and the paths of a spec from the user's project into the work tree. Relative
 * paths are resolved against `here`. */
void op_worktree_enter(const struct op_worktree_result *result, const char *here,
		       struct fence_spec *spec, struct fence_place *place);

/* Frees the result. The work tree stays and belongs to its loop. */
void op_worktree_release(struct op_worktree_result *result);

/* Removes the work tree unless a loop was started in it, and frees the result. */
void op_worktree_undo(const char *state, struct op_worktree_result *result);

/* Removes a loop's refs from the user's repository, and its work tree. Without `force`, a branch
 * whose commits no other branch has is kept, and *ret_kept is set. Adds the freed space to *bytes.
 * Returns 0, or -1 with err set. */
int op_worktree_drop(const char *state, const char *id, const char *origin, bool force,
		     uint64_t *bytes, bool *ret_kept, struct error *err);

/* Removes work trees whose creation was interrupted. */
void op_worktree_sweep(const char *state);

#endif
