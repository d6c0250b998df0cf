/* Merges the changes of another loop into the draft of a new one, which nobody uses yet. */
#ifndef SNAPSHOT_COMBINE_H
#define SNAPSHOT_COMBINE_H

#include "snapshot/snapshot_request.h"

/*
 * The changes are those between two checkpoints of the other loop, `from` and `to`. Where both
 * loops changed the same lines, text files get marks, as git merge makes them. Answers with the
 * conflicts, a sentence and a path each, and with the files that were merged by lines. Returns 0,
 * or -1 with err set.
 */
int combine_loop(struct snapshot_request *request, struct error *err);

#endif
