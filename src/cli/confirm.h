/* Asks the user for confirmation on the terminal. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "ops/op.h"

/* Returns whether there is a terminal to ask on. If not, sets err to say so, with `otherwise` as
 * the way to agree without one. */
bool confirm_possible(const char *otherwise, struct error *err);

/* Asks the question. Returns true only for an explicit yes. */
bool confirm(const struct op_question *question);

#endif
