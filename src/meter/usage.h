/*
 * Reads the usage from a model's response as it streams by.
 *
 * Constant memory; input may be split anywhere and is not changed. Later numbers in a stream
 * replace earlier ones and are never added; null is ignored. Until the final numbers arrive, the
 * length of the text gives a lower bound.
 */
#ifndef METER_USAGE_H
#define METER_USAGE_H

#include "meter/jsonscan.h"
#include "meter/sse.h"
#include "price/price.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum usage_format { USAGE_ANTHROPIC, USAGE_CHAT, USAGE_RESPONSES, USAGE_GEMINI, USAGE_FORMATS };

enum { USAGE_ERROR = 64, USAGE_MESSAGE = 4096, USAGE_TIME = 40 };

struct usage {
	struct price_use use;
	bool has_input; /* the input tokens are known exactly */
	/* the output tokens so far are known; later numbers replace them */
	bool has_output;
	bool ended;                  /* the response is complete, successful or not */
	bool framed;                 /* an object or list that only a model's answer has */
	uint64_t text_bytes;         /* of text, thoughts and tool arguments so far */
	uint64_t deltas;             /* pieces of text so far */
	char model[PRICE_NAME];      /* that answered, or empty */
	char error[USAGE_ERROR];     /* "overloaded_error", "insufficient_quota", or empty */
	char message[USAGE_MESSAGE]; /* the start of the error's message: untrusted text */
	char resets_at[USAGE_TIME];  /* when a limit ends, and in how long; as sent, or empty */
	char resets_in[USAGE_TIME];
};

struct usage_reader {
	struct usage usage;
	enum usage_format format;
	bool stream; /* server-sent events; otherwise one JSON value */
	struct jsonscan scan;
	struct sse sse;
	char text[USAGE_MESSAGE]; /* for the scanner */
	/* Of the current event: */
	bool has_choices, empty_choices, has_usage;
	uint64_t cached, written; /* parts of the input, in formats that include them */
	uint64_t write_total, write_5m, write_1h;
	uint64_t prompt, answer, thoughts, tool_prompt;
	/* Called at the end of each event; may be NULL. `extra`: a chat chunk with usage and no
	 * choices. */
	void (*event)(void *context, size_t at, bool extra);
	void *context;
};

/* Initialises *reader, which must not move afterwards. */
void usage_init(struct usage_reader *reader, enum usage_format format, bool stream);
void usage_feed(struct usage_reader *reader, const char *bytes, size_t size);

/* Returns true if anything was read that only a model's answer has. */
bool usage_began(const struct usage_reader *reader);

/* Returns true if the answer is complete, or an error that takes its place. */
bool usage_whole(const struct usage_reader *reader);

/* Returns true if a part of the answer was made or counted, so that it may be billed. */
bool usage_billable(const struct usage_reader *reader);

/* Returns a lower bound for the output tokens until final numbers are known: one token per two
 * bytes of text, and at least one per piece. */
uint64_t usage_estimate(const struct usage_reader *reader);

#endif
