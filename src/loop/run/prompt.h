/*
 * The agent's prompt: the task, the status, the check results, earlier attempts, and how to finish.
 * Text from checks or from the agent is quoted as data.
 */
#ifndef LOOP_RUN_PROMPT_H
#define LOOP_RUN_PROMPT_H

#include "loop/state/loop_state.h"
#include "util/buffer.h"

/* Appends the prompt of the next iteration. */
void prompt_write(const struct loop_state *state, int64_t now_ms, struct buffer *out);

#endif
