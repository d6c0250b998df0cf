/* The conflicts of a merge: which files, and which tasks changed them as well. */
#ifndef BATCH_BATCH_CONFLICT_H
#define BATCH_BATCH_CONFLICT_H

#include "batch/batch_state.h"
#include "loop/client.h"

/* Returns the conflicts that the loop of a task began with, each with its `path` and the `tasks`
 * that have landed since and changed it, or NULL if there are none. home: Ringfence's state folder.
 * The caller owns the list. */
json_t *batch_conflict_list(const struct batch_state *state, const char *home, size_t task,
			    const struct client_loop *loop);

#endif
