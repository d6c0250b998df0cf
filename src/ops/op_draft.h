/*
 * Drafts: rehearse a command, take its changes over into the project, undo that, or discard them.
 *
 *	op_draft_begin()	saves the project as the draft's base, and makes the draft
 *	draft_enter()		(draft/draft.h) then run the command in the fence
 *	op_draft_end()		saves the result; still in the view
 */
#ifndef OPS_OP_DRAFT_H
#define OPS_OP_DRAFT_H

#include "draft/draft.h"
#include "draft/draft_record.h"
#include "ops/op.h"
#include "util/list.h"

#include <jansson.h>

struct op_draft_begin_request {
	const char *state;
	const char *id;             /* an existing draft, or NULL for a new one */
	char *const *command;       /* for the record */
	struct draft_request draft; /* of the project; view.folder is set here */
};

/* Creates a draft, or continues an existing one, and locks it. Returns OP_NOT_FOUND if there is no
 * such draft, or OP_RUNNING if another command runs in it. The caller releases the record. *ret_made
 * says how a new draft was made. */
enum op_status op_draft_begin(const struct op_draft_begin_request *request,
			      struct draft_record *ret_record, struct draft_made *ret_made,
			      struct error *err);

/* Saves the result of the command, with its exit status. *ret_changes lists what the draft changes
 * so far, each with path and status; the caller releases it. */
enum op_status op_draft_end(const char *state, struct draft_record *record, int64_t code,
			    json_t **ret_changes, struct error *err);

struct op_draft_apply_request {
	const char *state;
	const char *id;
	const struct list *paths; /* only these, relative to the project; empty: everything */
	bool undo;                /* take back the last apply that is left */
	bool dry;                 /* change nothing */
	struct op_answer answer;
};

struct op_draft_apply_result {
	struct draft_record record;
	struct op_question question; /* files that this machine will execute unasked */
	json_t *details;             /* changes, conflicts and counts, or NULL */
};

/* Returns OP_UNCHANGED if there is nothing to do or `dry` is set, OP_REFUSED if there are
 * conflicts, or OP_RUNNING if a command runs in the draft, or a loop in the project. */
enum op_status op_draft_apply(const struct op_draft_apply_request *request,
			      struct op_draft_apply_result *ret_result, struct error *err);
void op_draft_apply_release(struct op_draft_apply_result *result);

/* Finds the checkpoint of the last apply that was not taken back: 0 if the draft is not applied.
 * Returns 0, or -1 with err set. */
int op_draft_find_apply(const char *state, const struct draft_record *record, int64_t *ret_number,
			struct error *err);

/* Removes a draft with its checkpoints, and adds the freed bytes. */
enum op_status op_draft_discard(const char *state, const char *id, uint64_t *bytes,
				struct error *err);

#endif
