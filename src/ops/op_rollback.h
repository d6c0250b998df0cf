/* Bringing a project, or one path in it, back to a checkpoint of a loop. */
#ifndef OPS_OP_ROLLBACK_H
#define OPS_OP_ROLLBACK_H

#include "fence/fence_found.h"
#include "ops/op.h"
#include "util/list.h"

#include <jansson.h>
#include <stdint.h>

struct op_rollback_request {
	struct op_target target;
	int64_t checkpoint;
	const char *path; /* in the project; NULL: all files */

	/* Abort a loop that is at work in the project. That happens before the question: nobody can
	 * say what will change while an agent works. */
	bool stop;
	struct op_answer answer;
};

struct op_rollback_result {
	struct client_loop loop;
	struct op_question question; /* the paths that will change */
	int64_t saved;               /* the checkpoint with the state before */
	int64_t written, removed, adjusted;
	struct list kept; /* folders with ignored or unreadable files */
	struct fence_found quarantined;
	json_t *details; /* all numbers and lists, for programs; NULL before it is done */
};

/* OP_NOT_FOUND: there is no such loop. OP_RUNNING: a loop is at work, and `stop` is not set. When
 * the operation is cut off, the next one finishes it. */
enum op_status op_rollback(const struct op_rollback_request *request,
			   struct op_rollback_result *ret_result, struct error *err);
void op_rollback_release(struct op_rollback_result *result);

#endif
