/* Merges a loop's commits into the user's branch. */
#ifndef OPS_OP_APPLY_H
#define OPS_OP_APPLY_H

#include "ops/op.h"

#include <jansson.h>

/* The line of a commit that has all changes of a loop's branch: the loop, and the commit of the
 * branch. */
#define OP_APPLY_SQUASHED "Created by Ringfence loop %s from commit %s."

struct op_apply_request {
	struct op_target target; /* project is always the user's, even if a loop is named */
	bool squash;             /* add one commit to the branch instead of merging */
	bool dry;                /* change nothing */
	const json_t *shown;     /* the details of a preview: nothing else is applied; or NULL */
	const char *remote;      /* of a patch that is a review before a push to it, or NULL */
	struct op_answer answer;
	struct op_answer pinned; /* to the question about pinned files */
};

enum op_apply_kind {
	OP_APPLY_NOTHING, /* the branch already has all commits */
	OP_APPLY_FORWARD,
	OP_APPLY_MERGE,
	OP_APPLY_SQUASH,
	OP_APPLY_CONFLICT,
	OP_APPLY_IN_THE_WAY, /* uncommitted changes of the user would be lost */
};

/* The state of uncommitted files in the loop's own work tree or draft. */
enum op_apply_leftovers {
	OP_APPLY_COMMITTED, /* committed, or there were none */
	OP_APPLY_AT_WORK,   /* the loop has not ended */
	OP_APPLY_GONE,      /* the work tree is gone */
};

struct op_apply_result {
	struct client_loop loop;
	enum op_apply_leftovers leftovers;
	enum op_apply_kind kind;
	/* Files that this machine will execute unasked. An item's value is the commit that brings a
	 * file which the result does not have, or else NULL. Those come last. */
	struct op_question question;
	struct op_question pinned; /* pinned files that the agent changed, without those above */
	json_t *details;           /* the branch, commits and files, for JSON output, or NULL */
};

/* Returns OP_UNCHANGED if there is nothing to do or `dry` is set, OP_REFUSED for the reason in
 * `kind`, or OP_RUNNING if a loop is running in the user's project itself. */
enum op_status op_apply(const struct op_apply_request *request, struct op_apply_result *ret_result,
			struct error *err);

/* Writes the commits to the descriptor `output` in mbox format, and changes nothing. `terminal`
 * says whether output is a terminal. */
enum op_status op_apply_patch(const struct op_apply_request *request, int output, bool terminal,
			      struct op_apply_result *ret_result, struct error *err);
void op_apply_release(struct op_apply_result *result);

/* Finishes an interrupted apply in this project. Returns OP_UNCHANGED if there is none. */
enum op_status op_apply_finish(const char *state, const char *project, struct error *err);

#endif
