/* Telling a loop: see op_tell.h. */
#include "ops/op_tell.h"

static enum op_tell_fate fate_of(const struct client_loop *loop, bool now)
{
	enum loop_step step = loop->state.step;

	if (!loop->alive || step == LOOP_STEP_paused || step == LOOP_STEP_finished)
		return OP_TELL_STOPPED;
	return now && step == LOOP_STEP_agent ? OP_TELL_AGAIN : OP_TELL_NEXT;
}

enum op_status op_tell(const struct op_tell_request *request, struct op_tell_result *ret_result,
		       struct error *err)
{
	struct client_loop *loop = &ret_result->loop;
	enum op_status status;

	*ret_result = (struct op_tell_result){ 0 };
	status = op_find(&request->target, loop, err);
	if (status != OP_DONE)
		return status;
	if (client_tell(loop, request->text, request->now, err) < 0)
		return op_status_of(err);
	ret_result->fate = fate_of(loop, request->now);
	return OP_DONE;
}

void op_tell_release(struct op_tell_result *result)
{
	client_loop_release(&result->loop);
}
