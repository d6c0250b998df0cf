/* Continuing a loop: see op_resume.h. */
#include "ops/op_resume.h"

enum { GONE_MS = 5000 };

bool op_resume_has_stopped(const struct client_loop *loop)
{
	return !loop->damaged &&
	       (loop->state.step == LOOP_STEP_paused || loop->state.step == LOOP_STEP_finished);
}

static bool is_blocked(const struct client_loop *loop, struct error *err)
{
	if (loop->state.step == LOOP_STEP_paused && loop->state.blocked)
		return true;
	error_with(err, ERROR_REFUSED,
		   "the agent of the loop %s is not blocked (to tell it something: ringfence tell "
		   "%s TEXT; to continue: ringfence resume %s)",
		   loop->id, loop->id, loop->id);
	return false;
}

static enum op_status continue_loop(const struct op_resume_request *request,
				    struct client_loop *loop, struct error *err)
{
	if (!loop->alive && request->before)
		request->before(request->context, loop);
	if (client_resume(request->target.state, loop, request->changes,
			  request->answer ? request->answer : request->told, err) < 0)
		return op_status_of(err);
	return OP_DONE;
}

enum op_status op_resume(const struct op_resume_request *request,
			 struct op_resume_result *ret_result, struct error *err)
{
	struct client_loop *loop = &ret_result->loop;
	enum op_status status;

	*ret_result = (struct op_resume_result){ 0 };
	status = op_find(&request->target, loop, err);
	if (status != OP_DONE)
		return status;
	/* A supervisor that has just stopped exits in a moment. */
	if (loop->alive && op_resume_has_stopped(loop) && client_wait_gone(loop, GONE_MS))
		client_refresh(loop);
	if (request->answer && !is_blocked(loop, err))
		return OP_REFUSED;
	ret_result->seen = loop->state.last_seq;
	return continue_loop(request, loop, err);
}

void op_resume_release(struct op_resume_result *result)
{
	client_loop_release(&result->loop);
}
