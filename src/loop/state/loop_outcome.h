/* How a loop ended, or why it does not go on, and what its checks said last: for the decision to
 * take its result over. */
#ifndef LOOP_STATE_LOOP_OUTCOME_H
#define LOOP_STATE_LOOP_OUTCOME_H

#include "loop/state/loop_state.h"

#include <jansson.h>

/* Returns it as an object that the caller owns: `outcome` in docs/protocols.md. reason: or NULL. */
json_t *loop_outcome_json(const struct loop_state *state, const char *status, const char *reason);

#endif
