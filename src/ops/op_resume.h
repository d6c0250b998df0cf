/* Continues a paused, interrupted or ended loop. */
#ifndef OPS_OP_RESUME_H
#define OPS_OP_RESUME_H

#include "ops/op.h"

struct op_resume_request {
	struct op_target target;
	json_t *changes; /* new limits, named as in the loop's configuration; may be empty */
	/* An answer to an agent that is blocked, cleaned (decision/told.h); or NULL. */
	const char *answer;
	/* A cleaned message for any agent, or NULL. Then a completed loop continues as well. */
	const char *told;

	/* Called before anything is locked or written, so that the program can move to the control
	 * group that the loop's limits need. May be NULL. */
	void (*before)(const void *context, const struct client_loop *loop);
	const void *context;
};

struct op_resume_result {
	struct client_loop loop;
	int64_t seen; /* the last event before the loop continued */
};

/* Returns OP_RUNNING if this or another loop of the project is running, or OP_REFUSED if the loop
 * is completed and there is no message, a limit is still reached, or there is an answer and no
 * agent that is blocked. */
enum op_status op_resume(const struct op_resume_request *request,
			 struct op_resume_result *ret_result, struct error *err);
void op_resume_release(struct op_resume_result *result);

/* Returns whether the loop has paused or ended. Its supervisor may still be exiting. */
bool op_resume_has_stopped(const struct client_loop *loop);

#endif
