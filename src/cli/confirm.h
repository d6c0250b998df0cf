/* Asking a person on the terminal for a yes. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "ops/op.h"

/* Is there a terminal to ask on? If not, err says so, and how to agree without one. */
bool confirm_possible(const char *otherwise, struct error *err);

/* Puts the question. Anything but a clear yes is a no. */
bool confirm(const struct op_question *question);

#endif
