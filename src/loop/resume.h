/* Checks whether a stopped loop may continue, before anything is written. */
#ifndef LOOP_RESUME_H
#define LOOP_RESUME_H

#include "loop/state/loop_state.h"
#include "util/error.h"

#include <jansson.h>

/*
 * Checks with these changed limits, at this time. Consumes the state, as if the loop had resumed.
 * told: a message for its agent, with which a completed loop continues; or NULL. Returns 0, or -1
 * with err set to the obstacle and its remedy.
 */
int resume_permits(struct loop_state *state, const json_t *changes, const char *told,
		   int64_t now_ms, struct error *err);

#endif
