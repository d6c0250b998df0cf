/* Aborting a loop: everything in its fence is ended, and the supervisor goes last. */
#ifndef OPS_OP_ABORT_H
#define OPS_OP_ABORT_H

#include "ops/op.h"

struct op_abort_request {
	struct op_target target;
	bool now; /* KILL at once, without TERM and the time to clean up */
};

struct op_abort_result {
	struct client_loop loop;
};

/* OP_DONE: no process of the loop is left. OP_ENDED: it had ended before. OP_TIMED_OUT: the wish is
 * in the journal, but its supervisor is still there. */
enum op_status op_abort(const struct op_abort_request *request, struct op_abort_result *ret_result,
			struct error *err);
void op_abort_release(struct op_abort_result *result);

#endif
