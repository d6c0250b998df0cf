/* The question that comes before changes to a project that this machine would execute unasked. */
#ifndef OPS_APPLY_QUESTION_H
#define OPS_APPLY_QUESTION_H

#include "ops/op.h"

#include <jansson.h>

/* Makes the question from an answer of ringfence-snapshot with work_tree, tree, changes and obeyed,
 * and for a branch with theirs and history. It has an item for each file that needs a yes. Returns
 * 0, or -1 with err set. */
int apply_question_make(const json_t *answer, struct op_question *question, struct error *err);

#endif
