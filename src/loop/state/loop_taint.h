/* Tells what the agents of a loop can change, for programs that are run outside the fence. */
#ifndef LOOP_STATE_LOOP_TAINT_H
#define LOOP_STATE_LOOP_TAINT_H

#include "loop/state/loop_state.h"
#include "util/taint.h"

/* Adds the project, and what the loop's configuration permits to change. */
void loop_taint_add(const struct loop_state *state, struct taint *taint);

/* Adds what a configuration permits to change besides the project. */
void loop_taint_add_config(const json_t *config, struct taint *taint);

#endif
