/* The loops of a batch's tasks. */
#ifndef BATCH_BATCH_LOOP_H
#define BATCH_BATCH_LOOP_H

#include "batch/batch_state.h"
#include "util/error.h"

struct batch_loop_place {
	const char *state; /* Ringfence's state folder */
	const char *batch; /* the id */
};

/*
 * Makes sure that the loop of a task that has begun is there: starts it, or continues it after a
 * crash and, if `resume`, after a pause. Returns 0, or -1 with err set; ERROR_BUSY: a loop that it
 * begins with is still ending; ERROR_EXISTS: its start was interrupted, and it needs another id.
 */
int batch_loop_start(const struct batch_state *state, const struct batch_loop_place *place,
		     size_t index, bool resume, struct error *err);

#endif
