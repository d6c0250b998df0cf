/* Asks the user for confirmation on the terminal. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "ops/op.h"

/* Returns whether there is a terminal to ask on. If not, sets err to say so, with `otherwise` as
 * the way to agree without one. */
bool confirm_possible(const char *otherwise, struct error *err);

/* Asks the question. Returns true only for an explicit yes. */
bool confirm(const struct op_question *question);

/* Asks the question, and keeps the answer for the next call of the operation, with a copy of the
 * question's token in `token`. Returns true only for an explicit yes. */
bool confirm_answer(const struct op_question *question, char token[SHA256_HEX],
		    struct op_answer *ret_answer);

#endif
