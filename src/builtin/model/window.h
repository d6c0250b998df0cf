/*
 * Keeps a conversation within the model's window.
 *
 * What was printed by tools long ago goes first, then the long arguments of old calls; then the model is asked to sum up, and the
 * summary takes the place of all that was said; and if even that cannot be, the oldest messages go. How many
 * tokens a byte is worth is learnt from what the provider counts.
 */
#ifndef BUILTIN_MODEL_WINDOW_H
#define BUILTIN_MODEL_WINDOW_H

#include "builtin/model/conversation.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	WINDOW_LEAST = 2000, /* tokens; below that nothing can be done */
	WINDOW_MOST = 10000000,
	WINDOW_UNKNOWN = 32000, /* tokens of a model of which nothing is known */
	WINDOW_RECENT = 3,      /* messages with results that are left for as long as possible */
};

struct window {
	uint64_t tokens;   /* of the model */
	uint64_t output;   /* of those, for one answer */
	uint64_t permille; /* tokens for a thousand bytes of a request */
};

/* What is known of a model by its name; given: what the user says, 0: nothing. */
void window_init(struct window *window, const char *model, uint64_t given);

/* A request of so many bytes had so many input tokens. */
void window_learn(struct window *window, uint64_t bytes, uint64_t tokens);

/* The provider says that so many bytes are too many. */
void window_shrink(struct window *window, uint64_t bytes);

/* Would a request of so many bytes fit? */
bool window_fits(const struct window *window, uint64_t bytes);

/* Cuts the results of a message, if they are too much together, in the middle of each: to half of the window at most. */
void window_trim(const struct window *window, struct conversation_message *results);

/* Takes out what tools printed, the oldest first, until so many bytes are saved; what came last stays. Returns how many
 * were. */
size_t window_drop(struct conversation *talk, size_t wanted);

/* Puts a summary in place of everything but the first message. Returns 0, or -1 with err set. */
int window_sum_up(struct conversation *talk, const char *summary, size_t size, struct error *err);

/* Takes out the older half of what is behind the first message. Returns whether there was anything. */
bool window_forget(struct conversation *talk);

#endif
