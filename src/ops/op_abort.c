/* Aborting a loop: see op_abort.h. */
#include "ops/op_abort.h"

enum { MOST_MS = 60000 };

static enum op_status end_loop(struct client_loop *loop, bool now, struct error *err)
{
	if (loop->state.step == LOOP_STEP_finished) {
		error_set(err, "loop %s has already ended: %s", loop->id, client_status(loop));
		return OP_ENDED;
	}
	if (client_ask(loop, CONTROL_REQUEST_abort, now, err) < 0)
		return loop->state.step == LOOP_STEP_finished ? OP_ENDED : OP_FAILED;
	if (client_wait_gone(loop, MOST_MS))
		return OP_DONE;
	error_set(err, "loop %s is still running after %d s; its supervisor is process %d",
		  loop->id, MOST_MS / 1000, (int)loop->state.supervisor);
	return OP_TIMED_OUT;
}

enum op_status op_abort(const struct op_abort_request *request, struct op_abort_result *ret_result,
			struct error *err)
{
	enum op_status status;

	*ret_result = (struct op_abort_result){ 0 };
	status = op_find(&request->target, &ret_result->loop, err);
	return status == OP_DONE ? end_loop(&ret_result->loop, request->now, err) : status;
}

void op_abort_release(struct op_abort_result *result)
{
	client_loop_release(&result->loop);
}
