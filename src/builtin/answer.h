/*
 * A model's answer as it comes: server-sent events in pieces become a message.
 *
 * Pure functions on foreign bytes, bounded: what is too long is cut, what is no JSON is passed over and counted, bytes
 * that are no UTF-8 become U+FFFD. What was used is read beside it by the meter.
 */
#ifndef BUILTIN_ANSWER_H
#define BUILTIN_ANSWER_H

#include "builtin/talk.h"
#include "meter/usage.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	ANSWER_EVENT = 4 << 20, /* bytes of an event, which holds at most a whole block */
	ANSWER_BYTES = 4 << 20, /* of all that is kept of an answer */
	ANSWER_BLOCK = 1 << 19, /* of a block: several times what an output limit lets through */
	ANSWER_ERROR = 1 << 16, /* of the body of a refusal */
};

enum answer_stop {
	ANSWER_NONE,    /* not said */
	ANSWER_DONE,    /* it has said all, or calls tools */
	ANSWER_LENGTH,  /* its output limit was reached */
	ANSWER_WINDOW,  /* the window was */
	ANSWER_PAUSE,   /* it wants to go on with the same conversation */
	ANSWER_REFUSAL, /* it will not */
};

struct dialect;

struct answer {
	const struct dialect *dialect;
	struct message message;
	enum answer_stop stop;
	bool ended;          /* it says so itself; else it was cut off */
	bool cut;            /* more came than is kept */
	size_t damaged;      /* events that were no JSON */
	size_t kept;         /* bytes */
	struct buffer error; /* what it says about an error; empty: none */
	struct usage_reader usage;

	struct sse sse;
	struct buffer event;
};

/* It must stay where it is until it is released. */
void answer_init(struct answer *answer, const struct dialect *dialect);
void answer_release(struct answer *answer);
void answer_feed(struct answer *answer, const char *bytes, size_t size);

/* All has come: arguments of calls are judged, calls without an id get one. calls: how many there were before. */
void answer_end(struct answer *answer, size_t calls);

/* The readers of both dialects: one event. */
void answer_take_anthropic(struct answer *answer, const json_t *event);
void answer_take_chat(struct answer *answer, const json_t *event);

#endif
