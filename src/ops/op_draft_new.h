/*
 * A new draft for a command.
 *
 *	op_draft_new_begin()	makes its record, and starts to save the project as its base
 *	op_draft_new_wait()	waits until the base is complete
 *	op_draft_new_make()	makes the draft
 *
 * While the base is saved, the fence can be planned. Nothing may be written to the draft, and
 * nothing copied from the project, before the base is complete: if the draft had an earlier version
 * of a file than the base, an apply would undo what the user has changed in between. In this order,
 * such a change may be in the draft, but is not taken for something that the user has undone.
 *
 * If this process is killed before the draft is made, there is a record of a draft in which no
 * command can run, and which can be discarded.
 */
#ifndef OPS_OP_DRAFT_NEW_H
#define OPS_OP_DRAFT_NEW_H

#include "draft/draft.h"
#include "draft/draft_record.h"
#include "ops/op.h"
#include "snapshot/snapshot.h"

struct op_draft_new_request {
	const char *state;
	const char *project;
	char *const *command; /* for the record */
	uint64_t most_bytes;  /* of all drafts: no new one is made above this; 0: no limit */
	int64_t age_ms;       /* spent drafts that are older are removed; 0: no limit */
};

struct op_draft_new {
	struct draft_record record; /* of a draft that was begun */
	struct snapshot_job base;   /* being saved */
	size_t removed;             /* spent drafts */
	uint64_t freed_bytes;
};

#define OP_DRAFT_NEW_INIT ((struct op_draft_new){ .record.lock = -1, .base = SNAPSHOT_JOB_INIT })

/* *ret_new is set in all cases; the caller releases the record. */
enum op_status op_draft_new_begin(const struct op_draft_new_request *request,
				  struct op_draft_new *ret_new, struct error *err);

enum op_status op_draft_new_wait(struct op_draft_new *new, snapshot_progress_fn *progress,
				 struct error *err);

/* request: view.folder is set here. */
enum op_status op_draft_new_make(const struct op_draft_new *new,
				 const struct draft_request *request, struct draft_made *ret_made,
				 struct error *err);

/* Removes a draft in which no command has run, if it was begun, and releases its record. */
void op_draft_new_abandon(struct op_draft_new *new, const char *state);

#endif
