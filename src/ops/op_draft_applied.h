/* Whether the changes of a draft are in the project. */
#ifndef OPS_OP_DRAFT_APPLIED_H
#define OPS_OP_DRAFT_APPLIED_H

#include "draft/draft_record.h"
#include "loop/client.h"

enum op_draft_applied {
	OP_DRAFT_APPLIED_NOT,
	OP_DRAFT_APPLIED_FILES,   /* as a whole or in parts, and not taken back */
	OP_DRAFT_APPLIED_COMMITS, /* the last commit of the loop is in a branch of the user's */
};

/* Finds out whether a draft is applied. Returns 0, or -1 with err set. */
int op_draft_applied_find(const char *state, const struct draft_record *record,
			  enum op_draft_applied *ret_applied, struct error *err);

/* Does the same for a loop, which has only commits if it has no draft. If that fails, it counts as
 * not applied. */
enum op_draft_applied op_draft_applied_loop(const char *state, const struct client_loop *loop);

/* Finds the checkpoint of the last apply that was not taken back: 0 if the draft is not applied.
 * Returns 0, or -1 with err set. */
int op_draft_applied_number(const char *state, const struct draft_record *record,
			    int64_t *ret_number, struct error *err);

#endif
