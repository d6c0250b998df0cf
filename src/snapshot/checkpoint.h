/*
 * Work on the checkpoints of a project. Their repository is open (snapshot_request.h); each begins with what was cut off before, if it
 * looks at the project. They return 0, or -1 with err set.
 */
#ifndef SNAPSHOT_CHECKPOINT_H
#define SNAPSHOT_CHECKPOINT_H

#include "snapshot/snapshot_request.h"

int checkpoint_save(struct snapshot_request *request, struct error *err);
int checkpoint_list(struct snapshot_request *request, struct error *err);
int checkpoint_diff(struct snapshot_request *request, struct error *err);
int checkpoint_show(struct snapshot_request *request, struct error *err);
int checkpoint_holds(struct snapshot_request *request, struct error *err); /* is the path in it? */
int checkpoint_undo(struct snapshot_request *request, struct error *err); /* rollback and restore */
int checkpoint_prune(struct snapshot_request *request, struct error *err);

#endif
