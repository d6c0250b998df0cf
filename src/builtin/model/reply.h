/*
 * A model's answer as it comes: server-sent events in pieces become a message.
 *
 * Pure functions on foreign bytes, bounded: what is too long is cut, what is no JSON is passed over and counted, bytes
 * that are no UTF-8 become U+FFFD. What was used is read beside it by the meter.
 */
#ifndef BUILTIN_MODEL_REPLY_H
#define BUILTIN_MODEL_REPLY_H

#include "builtin/model/conversation.h"
#include "meter/usage.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	REPLY_EVENT = 4 << 20, /* bytes of an event, which holds at most a whole block */
	REPLY_BYTES = 4 << 20, /* of all that is kept of an answer */
	REPLY_BLOCK = 1 << 19, /* of a block: several times what an output limit lets through */
	REPLY_ERROR = 1 << 16, /* of the body of a refusal */
};

enum reply_stop {
	REPLY_NONE,    /* not said */
	REPLY_DONE,    /* it has said all, or calls tools */
	REPLY_LENGTH,  /* its output limit was reached */
	REPLY_WINDOW,  /* the window was */
	REPLY_PAUSE,   /* it wants to go on with the same conversation */
	REPLY_REFUSAL, /* it will not */
};

struct reply;

/* How answers of a protocol are read. */
struct reply_reader {
	enum usage_format format;
	void (*take)(struct reply *answer, const json_t *event);
};

struct reply {
	const struct reply_reader *reader;
	struct conversation_message message;
	enum reply_stop stop;
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
void reply_init(struct reply *answer, const struct reply_reader *reader);
void reply_release(struct reply *answer);
void reply_feed(struct reply *answer, const char *bytes, size_t size);

/* All has come: arguments of calls are judged, calls without an id get one. calls: how many there were before. */
void reply_end(struct reply *answer, size_t calls);

/* The readers of both dialects: one event. */
void reply_take_anthropic(struct reply *answer, const json_t *event);
void reply_take_chat(struct reply *answer, const json_t *event);

#endif
