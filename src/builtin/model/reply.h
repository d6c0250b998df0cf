/*
 * Reads a model's reply: server-sent events in pieces become a message.
 *
 * Pure functions on untrusted bytes, with limits: long texts are cut, events that are not JSON are
 * skipped and counted, invalid UTF-8 becomes U+FFFD. The usage is read by the meter.
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
	REPLY_BYTES = 4 << 20, /* bytes kept of a reply */
	REPLY_BLOCK = 1 << 19, /* bytes of a block: several times any output limit */
	REPLY_ERROR = 1 << 16, /* bytes of an error response */
};

enum reply_stop {
	REPLY_NONE,    /* not given */
	REPLY_DONE,    /* complete, or calls tools */
	REPLY_LENGTH,  /* the output limit was reached */
	REPLY_WINDOW,  /* the context window is full */
	REPLY_PAUSE,   /* the provider wants the conversation sent again */
	REPLY_REFUSAL, /* the model refused */
};

struct reply;

/* A protocol's reader of replies. */
struct reply_reader {
	enum usage_format format;
	void (*read)(struct reply *answer, const json_t *event);
};

struct reply {
	const struct reply_reader *reader;
	struct conversation_message message;
	enum reply_stop stop;
	bool ended;          /* the end was received; else the reply was cut off */
	bool cut;            /* the reply exceeded the limits */
	size_t damaged;      /* events that were not JSON */
	size_t kept;         /* bytes */
	struct buffer error; /* the error that it reports; empty: no error */
	struct usage_reader usage;

	struct sse sse;
	struct buffer event;
};

/* The reply must not be moved until it is released. */
void reply_init(struct reply *answer, const struct reply_reader *reader);
void reply_release(struct reply *answer);
void reply_feed(struct reply *answer, const char *bytes, size_t size);

/*
 * Completes the reply: validates the arguments of calls and gives an id to calls without one.
 * `calls` is the number of tool calls so far.
 */
void reply_end(struct reply *answer, size_t calls);

/* The readers of both dialects, called with one event. */
void reply_read_anthropic(struct reply *answer, const json_t *event);
void reply_read_chat(struct reply *answer, const json_t *event);

#endif
