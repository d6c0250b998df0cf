/* The message of a user for the agent of a loop, as an argument or from stdin. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "cli/loops.h"

/*
 * Reads the arguments [LOOP] TEXT; a TEXT of "-" stands for stdin. Sets the target of an operation,
 * and returns the text, cleaned (decision/told.h), which the caller frees. Returns NULL with err
 * set if there is none.
 */
char *message_read(struct loops_options *opts, const char *command, struct op_target *ret_target,
		   struct error *err);

#endif
