/* A work tree of a loop's own: made before it begins, and removed with it. */
#ifndef OPS_OP_WORKTREE_H
#define OPS_OP_WORKTREE_H

#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "ops/op.h"
#include "util/list.h"

struct op_worktree_request {
	const char *state;   /* Ringfence's own folder */
	const char *project; /* the user's */
};

/* A work tree that is being made. As long as `lock` is open, nobody takes it for a leftover. */
struct op_worktree_result {
	char *id;      /* of the loop to come */
	char *origin;  /* the user's project */
	char *root;    /* the work tree */
	char *project; /* the folder in it that stands for the user's project */
	int lock;
	struct list uncommitted; /* the first uncommitted paths, which are not in it */
	size_t uncommitted_count;
	struct list submodules; /* empty folders in it */
};

#define OP_WORKTREE_INIT ((struct op_worktree_result){ .lock = -1 })

/* Makes it, with the id of a loop to come. */
enum op_status op_worktree(const struct op_worktree_request *request,
			   struct op_worktree_result *ret_result, struct error *err);

/* Moves the place and the paths of a spec from the user's project into the work tree. here: what
 * relative paths are relative to. */
void op_worktree_enter(const struct op_worktree_result *result, const char *here,
		       struct fence_spec *spec, struct fence_place *place);

/* Leaves the work tree to the loop. */
void op_worktree_release(struct op_worktree_result *result);

/* Removes it, if no loop has begun in it. */
void op_worktree_undo(const char *state, struct op_worktree_result *result);

/* Removes the refs of a loop in the user's repository, and its work tree. force: also a branch
 * whose commits nobody else has. *bytes grows by what that frees; *ret_kept: the branch stays.
 * Returns 0, or -1 with err set. */
int op_worktree_drop(const char *state, const char *id, const char *origin, bool force,
		     uint64_t *bytes, bool *ret_kept, struct error *err);

/* Removes work trees whose making was cut off. */
void op_worktree_sweep(const char *state);

#endif
