/*
 * Keeps a conversation within the model's window.
 *
 * Old tool output is removed first, then long arguments of old calls; then the model writes a
 * summary that replaces the conversation; if that fails, the oldest messages are dropped. The ratio
 * of tokens to bytes is learned from the provider's counts.
 */
#ifndef BUILTIN_MODEL_WINDOW_H
#define BUILTIN_MODEL_WINDOW_H

#include "builtin/model/conversation.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	WINDOW_LEAST = 2000, /* tokens; a smaller window is unusable */
	WINDOW_MOST = 10000000,
	WINDOW_UNKNOWN = 32000, /* tokens assumed for an unknown model */
	WINDOW_RECENT = 3,      /* messages with results that are kept as long as possible */
};

struct window {
	uint64_t tokens;   /* of the model */
	uint64_t output;   /* of those, reserved for the reply */
	uint64_t permille; /* tokens per thousand bytes of a request */
};

/* Sets the window by the model's name. `given` is the user's setting in tokens, or 0. */
void window_init(struct window *window, const char *model, uint64_t given);

/* Records that a request of this size had this many input tokens. */
void window_learn(struct window *window, uint64_t bytes, uint64_t tokens);

/* Records that the provider refused a request of this size as too long. */
void window_shrink(struct window *window, uint64_t bytes);

/* Returns whether a request of this size fits. */
bool window_fits(const struct window *window, uint64_t bytes);

/* Shortens the results of a message to half the window in total, each in its middle. */
void window_trim(const struct window *window, struct conversation_message *results);

/*
 * Removes old tool output, oldest first, until `wanted` bytes are saved; recent output stays.
 * Returns the bytes saved.
 */
size_t window_drop(struct conversation *conversation, size_t wanted);

/* Replaces everything after the first message with a summary. Returns 0, or -1 with err set. */
int window_summarize(struct conversation *conversation, const char *summary, size_t size,
		     struct error *err);

/* Removes the older half of the messages after the first. Returns whether any were removed. */
bool window_forget(struct conversation *conversation);

#endif
