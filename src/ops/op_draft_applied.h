/* Whether the changes of a draft are in the project. */
#ifndef OPS_OP_DRAFT_APPLIED_H
#define OPS_OP_DRAFT_APPLIED_H

#include "draft/draft_record.h"
#include "loop/client.h"

/* Reports whether the files of a loop's draft were applied, as a whole or in parts, and not taken
 * back. */
bool op_draft_applied_is(const char *state, const struct client_loop *loop);

/* Finds the checkpoint of the last apply that was not taken back: 0 if the draft is not applied.
 * Returns 0, or -1 with err set. */
int op_draft_applied_number(const char *state, const struct draft_record *record,
			    int64_t *ret_number, struct error *err);

#endif
