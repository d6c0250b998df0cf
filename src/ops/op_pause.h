/* Pauses a loop: it stops after its current iteration. */
#ifndef OPS_OP_PAUSE_H
#define OPS_OP_PAUSE_H

#include "ops/op.h"

struct op_pause_request {
	struct op_target target;
};

struct op_pause_result {
	struct client_loop loop;
};

/* Returns OP_DONE when the request is in the journal, or OP_NOT_RUNNING if the loop has no
 * supervisor. */
enum op_status op_pause(const struct op_pause_request *request, struct op_pause_result *ret_result,
			struct error *err);
void op_pause_release(struct op_pause_result *result);

#endif
