/* May a loop that has stopped go on? Asked before anything is written. */
#ifndef LOOP_RESUME_H
#define LOOP_RESUME_H

#include "loop/state/loop_state.h"
#include "util/error.h"

#include <jansson.h>

/* With these changes of its limits, at this time. Uses up the state: it is then as if the loop had gone on. Returns 0,
 * or -1 with err set: what stands in the way, and what to do about it. */
int resume_permits(struct loop_state *state, const json_t *changes, int64_t now_ms,
		   struct error *err);

#endif
