/* Pausing a loop: it stops when its iteration has ended. */
#ifndef OPS_OP_PAUSE_H
#define OPS_OP_PAUSE_H

#include "ops/op.h"

struct op_pause_request {
	struct op_target target;
};

struct op_pause_result {
	struct client_loop loop;
};

/* OP_DONE: the wish is in the journal. OP_NOT_RUNNING: nobody would grant it. */
enum op_status op_pause(const struct op_pause_request *request, struct op_pause_result *ret_result,
			struct error *err);
void op_pause_release(struct op_pause_result *result);

#endif
