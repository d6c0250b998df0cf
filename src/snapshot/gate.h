/*
 * The gate: takes over what a draft changes into the project, as files.
 *
 * The changes between two checkpoints, `from` (the draft's base) and `to` (its result), are merged
 * into the project as it is now (undo/tree_merge.h). The result is saved as a checkpoint and then
 * restored (undo/restore.h), so an interrupted crossing is completed by the next task, and the
 * checkpoint of the project before it can bring everything back.
 *
 * Ignored files cross only if the draft's folder is given (`layers`): the draft is then read as it
 * is, because its checkpoints do not have them. look/tree_ignored.h finds their base. The
 * checkpoints before and after such a crossing have those ignored files that the draft changes, and
 * so does the scan of every crossing between two such checkpoints, that is, of an undo.
 *
 * A preview numbers the changes. A crossing may leave some of them out, or take over only some
 * hunks of a file; what is left out stays in the draft.
 */
#ifndef SNAPSHOT_GATE_H
#define SNAPSHOT_GATE_H

#include "snapshot/snapshot_request.h"

/* Answers with what changes, conflicts, and paths that tools obey; changes nothing if there are
 * conflicts, or with `dry`. Returns 0, or -1 with err set. */
int gate_cross(struct snapshot_request *request, struct error *err);

/* Saves what a draft changes, as checkpoint_save() does, and answers in the same way with all that
 * it has changed since its base, whatever the project is now. Returns 0, or -1 with err set. */
int gate_rehearse(struct snapshot_request *request, struct error *err);

#endif
