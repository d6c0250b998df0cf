/*
 * Operations on the checkpoints of a project. The caller has opened the checkpoint repository
 * (snapshot_request.h). An operation that reads the project first completes a rollback that was
 * interrupted. All return 0, or -1 with err set.
 */
#ifndef SNAPSHOT_CHECKPOINT_H
#define SNAPSHOT_CHECKPOINT_H

#include "snapshot/snapshot_request.h"

/* Locks the repository, then completes a rollback that was interrupted. */
int checkpoint_begin(struct snapshot_request *request, struct error *err);

int checkpoint_save(struct snapshot_request *request, struct error *err);
int checkpoint_base(struct snapshot_request *request,
		    struct error *err); /* the base of a draft: without facts that nobody reads */
int checkpoint_fork(struct snapshot_request *request,
		    struct error *err); /* the base of another loop becomes this one's */
int checkpoint_sync(struct snapshot_request *request, struct error *err);
int checkpoint_list(struct snapshot_request *request, struct error *err);
int checkpoint_diff(struct snapshot_request *request, struct error *err);
int checkpoint_examine(struct snapshot_request *request,
		       struct error *err); /* signs that changes weaken the checks */
int checkpoint_settle(struct snapshot_request *request,
		      struct error *err); /* pinned files in the views of a round */
int checkpoint_break(struct snapshot_request *request,
		     struct error *err); /* a layer in which the source code is broken */
int checkpoint_mutate(struct snapshot_request *request,
		      struct error *err); /* a layer in which one changed line is another */
int checkpoint_pinned(struct snapshot_request *request,
		      struct error *err); /* lists the pinned files that differ */
int checkpoint_show(struct snapshot_request *request, struct error *err);
int checkpoint_contains(struct snapshot_request *request,
			struct error *err); /* fails if the path is not in the checkpoint */
int checkpoint_undo(struct snapshot_request *request, struct error *err); /* rollback and restore */
int checkpoint_prune(struct snapshot_request *request, struct error *err);

#endif
