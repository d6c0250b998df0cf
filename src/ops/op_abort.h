/* Aborts a loop: ends everything in its fence, and its supervisor last. */
#ifndef OPS_OP_ABORT_H
#define OPS_OP_ABORT_H

#include "ops/op.h"

struct op_abort_request {
	struct op_target target;
	bool now; /* send KILL at once, without TERM and a grace period */
};

struct op_abort_result {
	struct client_loop loop;
};

/* Returns OP_DONE when no process of the loop is left, OP_ENDED if the loop had ended before, or
 * OP_TIMED_OUT if the request is in the journal but the supervisor is still running. */
enum op_status op_abort(const struct op_abort_request *request, struct op_abort_result *ret_result,
			struct error *err);
void op_abort_release(struct op_abort_result *result);

#endif
