/*
 * Work on the checkpoints of a project. Their repository is open (request.h); each begins with what was cut off before, if it
 * looks at the project. They return 0, or -1 with err set.
 */
#ifndef SNAPSHOT_CHECKPOINT_H
#define SNAPSHOT_CHECKPOINT_H

#include "snapshot/request.h"

int checkpoint_save(struct request *request, struct error *err);
int checkpoint_list(struct request *request, struct error *err);
int checkpoint_diff(struct request *request, struct error *err);
int checkpoint_show(struct request *request, struct error *err);
int checkpoint_holds(struct request *request, struct error *err); /* is the path in it? */
int checkpoint_undo(struct request *request, struct error *err);  /* rollback and restore */
int checkpoint_prune(struct request *request, struct error *err);

#endif
