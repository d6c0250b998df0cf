/* Bringing what a loop has committed into the user's branch. */
#ifndef OPS_OP_APPLY_H
#define OPS_OP_APPLY_H

#include "ops/op.h"

#include <jansson.h>

struct op_apply_request {
	struct op_target target; /* with the user's project, whichever loop is named */
	bool squash;             /* one commit on top of the branch, instead of a merge */
	bool dry;                /* change nothing */
	struct op_answer answer;
};

enum op_apply_kind {
	OP_APPLY_NOTHING, /* the branch has all commits already */
	OP_APPLY_FORWARD,
	OP_APPLY_MERGE,
	OP_APPLY_SQUASH,
	OP_APPLY_CONFLICT,
	OP_APPLY_IN_THE_WAY, /* uncommitted changes of the user would be lost */
};

/* The files that the agent has not committed in the loop's own work tree. */
enum op_apply_leftovers {
	OP_APPLY_COMMITTED, /* or there were none */
	OP_APPLY_AT_WORK,   /* the loop is still running */
	OP_APPLY_GONE,      /* the work tree is gone */
};

struct op_apply_result {
	struct client_loop loop;
	enum op_apply_leftovers leftovers;
	enum op_apply_kind kind;
	struct op_question question; /* files that this machine will execute by itself */
	json_t *details;             /* the branch, commits and files, for programs; may be NULL */
};

/* OP_UNCHANGED: there is nothing to do, or `dry` is set. OP_REFUSED: see `kind`. OP_RUNNING: a loop
 * is at work in the user's project. */
enum op_status op_apply(const struct op_apply_request *request, struct op_apply_result *ret_result,
			struct error *err);

/* Writes the commits as mails to a descriptor, and changes nothing. terminal: it is one. */
enum op_status op_apply_patch(const struct op_apply_request *request, int output, bool terminal,
			      struct op_apply_result *ret_result, struct error *err);
void op_apply_release(struct op_apply_result *result);

/* Finishes an apply in this project that was cut off. OP_UNCHANGED: there is none. */
enum op_status op_apply_finish(const char *state, const char *project, struct error *err);

#endif
