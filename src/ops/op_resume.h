/* Going on with a loop that is paused, interrupted or ended. */
#ifndef OPS_OP_RESUME_H
#define OPS_OP_RESUME_H

#include "ops/op.h"

struct op_resume_request {
	struct op_target target;
	json_t *changes; /* limits, as the loop's configuration names them; may be empty */

	/* Called before anything is locked or written: a program that must be in another control
	 * group for the loop's limits goes there now. May be NULL. */
	void (*before)(const struct client_loop *loop);
};

struct op_resume_result {
	struct client_loop loop;
	int64_t seen; /* the last event before it went on */
};

/* OP_RUNNING: this loop, or another one of the project, is at work. OP_REFUSED: the loop is
 * completed, or its limits are reached. */
enum op_status op_resume(const struct op_resume_request *request,
			 struct op_resume_result *ret_result, struct error *err);
void op_resume_release(struct op_resume_result *result);

/* Has it come to a stop of its own? Its supervisor may still be on its way out. */
bool op_resume_has_stopped(const struct client_loop *loop);

#endif
