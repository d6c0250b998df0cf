/* Tells the agent of a loop something in its next prompt. */
#ifndef OPS_OP_TELL_H
#define OPS_OP_TELL_H

#include "ops/op.h"

struct op_tell_request {
	struct op_target target;
	const char *text; /* cleaned (decision/told.h) */
	bool now;         /* stop an agent that runs, and begin its iteration again */
};

/* When the agent reads the message. */
enum op_tell_fate {
	OP_TELL_NEXT,    /* the next prompt has it */
	OP_TELL_AGAIN,   /* the agent that runs is stopped, and the next prompt has it */
	OP_TELL_STOPPED, /* the next prompt has it if the loop is resumed */
};

struct op_tell_result {
	struct client_loop loop;
	enum op_tell_fate fate;
};

/* Returns OP_DONE when the message is in the journal, or OP_REFUSED if the loop is completed, or
 * has too many messages. */
enum op_status op_tell(const struct op_tell_request *request, struct op_tell_result *ret_result,
		       struct error *err);
void op_tell_release(struct op_tell_result *result);

#endif
