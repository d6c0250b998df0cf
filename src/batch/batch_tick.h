/* Ticks in the user's lists: what has landed is marked as done. */
#ifndef BATCH_BATCH_TICK_H
#define BATCH_BATCH_TICK_H

#include "batch/batch_state.h"
#include "util/list.h"

struct batch_tick_result {
	size_t ticked;       /* tasks that were marked now */
	struct list notices; /* a sentence for each list or task that could not be marked */
};

/* Marks the tasks that landed in their lists; no other byte of these changes. The caller releases
 * the result. */
void batch_tick(const struct batch_state *state, struct batch_tick_result *ret_result);
void batch_tick_release(struct batch_tick_result *result);

#endif
