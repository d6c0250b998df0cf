/* The phase in the agent's prompt: its task, what ends it, and what may be changed. */
#ifndef LOOP_RUN_PHASE_PROMPT_H
#define LOOP_RUN_PHASE_PROMPT_H

#include "loop/state/loop_state.h"
#include "util/buffer.h"

/* Adds the section about the phase, if the loop has phases. */
void phase_prompt_add(const struct loop_state *state, struct buffer *out);

/* Do the rules of the loop decide about this iteration? */
bool phase_prompt_has_rules(const struct loop_state *state);

/* Adds the rule about what may be changed, if the phase has one. Returns whether it has. */
bool phase_prompt_add_write(const struct loop_state *state, struct buffer *out);

#endif
