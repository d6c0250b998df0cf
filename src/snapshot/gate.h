/*
 * The gate: saves what a draft changes, and takes it over into the project, as files.
 *
 * The changes between two checkpoints, `from` (the draft's base) and `to` (its result), are merged
 * into the project as it is now (undo/tree_merge.h). The result is saved as a checkpoint and then
 * restored (undo/restore.h), so an interrupted crossing is completed by the next task, and the
 * checkpoint of the project before it can bring everything back.
 */
#ifndef SNAPSHOT_GATE_H
#define SNAPSHOT_GATE_H

#include "snapshot/snapshot_request.h"

/* In a view of the draft (draft/draft.h): saves the draft's result as a checkpoint, and answers
 * with its number. The result is the base with what the draft changed (draft/draft_layer.h); it
 * leaves out what somebody else changed in the project meanwhile. Returns 0, or -1 with err set. */
int gate_save(struct snapshot_request *request, struct error *err);

/* Answers with what changes, conflicts, and paths that tools obey; changes nothing if there are
 * conflicts, or with `dry`. Returns 0, or -1 with err set. */
int gate_cross(struct snapshot_request *request, struct error *err);

#endif
