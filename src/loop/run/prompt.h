/*
 * The agent's prompt: the task, messages of the user, the status, the check results, earlier
 * attempts, what decides, and the rules. Text from checks or from the agent is quoted as data.
 */
#ifndef LOOP_RUN_PROMPT_H
#define LOOP_RUN_PROMPT_H

#include "loop/state/loop_state.h"
#include "util/buffer.h"

enum { PROMPT_MAX = 8 << 20 };

/* In the order of the prompt. A part may be empty. */
enum prompt_part {
	PROMPT_TASK,
	PROMPT_PHASE,
	PROMPT_MERGE,
	PROMPT_TOLD,
	PROMPT_STATUS,
	PROMPT_HISTORY,
	PROMPT_CHECKS,
	PROMPT_FINDINGS,
	PROMPT_REVIEW,
	PROMPT_GIT,
	PROMPT_GOAL,
	PROMPT_RULES,
	PROMPT_PARTS
};

struct prompt {
	struct buffer text;
	size_t bytes[PROMPT_PARTS]; /* of each part; together, the whole text */
};

#define PROMPT_INIT ((struct prompt){ .text = BUFFER_INIT(PROMPT_MAX) })

/* Writes the prompt of the next iteration. The caller releases it. */
void prompt_write(const struct loop_state *state, int64_t now_ms, struct prompt *ret_prompt);
void prompt_release(struct prompt *prompt);

#define AUTO_PROMPT __attribute__((cleanup(prompt_release)))

/* "task", "status" and so on, for people and JSON. */
const char *prompt_part_name(enum prompt_part part);

/* Estimates the tokens of so many bytes of text. */
size_t prompt_tokens(size_t bytes);

#endif
