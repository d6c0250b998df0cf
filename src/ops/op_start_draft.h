/*
 * The draft of a new loop, in STATE/loops/ID/draft.
 *
 * Until the loop is created, the file STATE/loops/.making-ID names the project, and the process
 * that makes the draft holds a lock on it. If that process is killed, the next one removes what it
 * left.
 */
#ifndef OPS_OP_START_DRAFT_H
#define OPS_OP_START_DRAFT_H

#include "draft/draft.h"
#include "ops/op_start_from.h"
#include "snapshot/snapshot.h"

struct op_start_draft {
	char *id;     /* of the loop */
	char *folder; /* of the draft */
	int lock;
};

#define OP_START_DRAFT_INIT ((struct op_start_draft){ .lock = -1 })

/* Reserves an id for the loop, and the place of its draft. id: the one that the loop gets, or NULL.
 * Returns 0, or -1 with err set: ERROR_EXISTS if there is such a loop, ERROR_BUSY if another
 * process makes it. */
int op_start_draft_reserve(const char *state, const char *project, const char *id,
			   struct op_start_draft *ret_draft, struct error *err);

struct op_start_draft_request {
	const char *state;
	bool checkpoint_ignored;    /* the base has ignored files, too */
	struct draft_request draft; /* view.folder is set here */
	const struct op_start_from *from;
	snapshot_progress_fn *progress; /* called while the base is saved, or NULL */
};

struct op_start_draft_result {
	struct draft_made made;
	char *notice; /* something about the base that the user should know, or NULL */
	struct op_start_from_conflicts conflicts; /* of the loops that it begins with */
};

/* Saves the project as the base of the loop, or takes over that of another loop, and makes the
 * draft. Returns 0, or -1 with err set. The caller releases the result in all cases. */
int op_start_draft_make(const struct op_start_draft_request *request,
			const struct op_start_draft *draft,
			struct op_start_draft_result *ret_result, struct error *err);
void op_start_draft_result_release(struct op_start_draft_result *result);

/* The draft belongs to its loop now, if that was created; otherwise it is removed. */
void op_start_draft_release(const char *state, const char *project, struct op_start_draft *draft);

/* Removes what killed processes have left. */
void op_start_draft_sweep(const char *state);

#endif
