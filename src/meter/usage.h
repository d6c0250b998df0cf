/*
 * What a model's answer says that was used, read beside the bytes as they pass.
 *
 * Constant memory, bytes split anywhere, no change to what is read. Numbers of a stream are replaced by later
 * ones and never added; null is no number. Until the final numbers are there, the length of the text that passed
 * tells how much it will be at least.
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

enum { USAGE_ERROR = 64, USAGE_MESSAGE = JSONSCAN_TEXT };

struct usage {
	struct price_use use;
	bool has_input;          /* the input side is said, exactly */
	bool has_output;         /* the output side is, for now: replaced by what comes later */
	bool ended;              /* the answer says of itself that it is over, for good or ill */
	uint64_t text_bytes;     /* of text, thoughts and arguments that passed */
	uint64_t deltas;         /* pieces in which it came */
	char model[PRICE_NAME];  /* that answered; empty: not said */
	char error[USAGE_ERROR]; /* "overloaded_error", "insufficient_quota"; empty: none */
	char message[USAGE_MESSAGE]; /* what it said about that; foreign text */
};

struct usage_reader {
	struct usage usage;
	enum usage_format format;
	bool stream; /* server-sent events; else one JSON text */
	struct jsonscan scan;
	struct sse sse;
	/* Of the event that is being read: */
	bool has_choices, empty_choices, has_usage;
	uint64_t cached, written; /* parts of the input, where that is said so */
	uint64_t write_total, write_5m, write_1h;
	uint64_t prompt, answer, thoughts, tool_prompt;
	/* May be NULL: called at the end of each event; `extra`: a chat chunk that holds the usage and nothing else. */
	void (*event)(void *context, size_t at, bool extra);
	void *context;
};

/* The reader must stay where it is. */
void usage_init(struct usage_reader *reader, enum usage_format format, bool stream);
void usage_feed(struct usage_reader *reader, const char *bytes, size_t size);

/*
 * How many output tokens this is at least, while nothing final is known: two bytes a token, which is fewer than
 * text has, and one for each piece.
 */
uint64_t usage_estimate(const struct usage_reader *reader);

#endif
