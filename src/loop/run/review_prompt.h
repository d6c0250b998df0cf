/*
 * The reviewer's prompt: the task, the check results, what has changed, and how to answer
 * (decision/review.h). Changes and the output of checks are quoted as data.
 */
#ifndef LOOP_RUN_REVIEW_PROMPT_H
#define LOOP_RUN_REVIEW_PROMPT_H

#include "loop/state/loop_state.h"
#include "util/buffer.h"

/* Appends the prompt. diff: the changes as a patch, which may be empty or cut. */
void review_prompt_write(const struct loop_state *state, const struct buffer *diff,
			 struct buffer *out);

/* Appends the findings of the last review, quoted as data; blocking ones, or the others. */
void review_prompt_findings(const struct loop_state *state, bool blocking, struct buffer *out);

#endif
