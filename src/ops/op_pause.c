/* Pausing a loop: see op_pause.h. */
#include "ops/op_pause.h"

enum op_status op_pause(const struct op_pause_request *request, struct op_pause_result *ret_result,
			struct error *err)
{
	struct client_loop *loop = &ret_result->loop;
	enum op_status status;

	*ret_result = (struct op_pause_result){ 0 };
	status = op_find(&request->target, loop, err);
	if (status != OP_DONE)
		return status;
	if (!loop->alive) {
		error_set(err, "loop %s is not running: %s", loop->id, client_status(loop));
		return OP_NOT_RUNNING;
	}
	return client_ask(loop, CONTROL_REQUEST_pause, false, err) < 0 ? OP_FAILED : OP_DONE;
}

void op_pause_release(struct op_pause_result *result)
{
	client_loop_release(&result->loop);
}
