/* The question that comes before changes to a project that this machine would execute unasked. */
#ifndef OPS_APPLY_QUESTION_H
#define OPS_APPLY_QUESTION_H

#include "ops/apply_targets.h"
#include "ops/op.h"

#include <jansson.h>

/* Returns why a changed file should be reviewed before the user's tools see it, or NULL; *ret_ci is
 * set if only CI runs or obeys it. targets may be NULL. The caller frees it. */
char *apply_question_why(const struct apply_targets *targets, const json_t *change, bool *ret_ci);

/* Makes the question from an answer of ringfence-snapshot with work_tree, tree, changes and obeyed,
 * and for a branch with theirs and history. It has an item for each file that needs a yes. Returns
 * 0, or -1 with err set. */
int apply_question_make(const json_t *answer, struct op_question *question, struct error *err);

#endif
