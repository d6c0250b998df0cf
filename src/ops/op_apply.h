/* Bringing what a loop has committed into the user's branch. */
#ifndef OPS_OP_APPLY_H
#define OPS_OP_APPLY_H

#include "ops/op.h"

/* Finishes an apply in this project that was cut off. OP_UNCHANGED: there is none. */
enum op_status op_apply_finish(const char *state, const char *project, struct error *err);

#endif
