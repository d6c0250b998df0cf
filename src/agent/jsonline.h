/*
 * JSON without a tree: values are looked at where they stand in the text. An agent's stream is mostly
 * long strings that nobody asks for (what tools printed, files that were written); they are skipped by
 * memchr(), and nothing is allocated.
 *
 * It is lenient in what it skips and strict in what it takes: a text that ends too early, or whose
 * brackets do not match, is refused as a whole; numbers, escapes and UTF-8 are judged only where they
 * are read.
 *
 * That is why it is here beside jansson, which refuses a whole line for half a surrogate pair, a byte
 * that is not UTF-8, or an integer of 20 digits, anywhere in it. JavaScript prints such halves whenever
 * it cuts a string inside an emoji, and a lost `result` line is a turn that never ends. Memory counts
 * too: a line of 1 MiB can become a tree of 80 MiB. Speed does not (1.3 to 1.9 ms of CPU per MiB
 * against 13 to 15 ms, measured on 2026-11-17 with 100 MiB of each agent's transcripts): no model
 * writes that fast.
 */
#ifndef AGENT_JSONLINE_H
#define AGENT_JSONLINE_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSONLINE_DEEPEST = 256 };

/* The text of one value, without white space around it; at NULL: there is none. */
struct jsonline {
	const char *at;
	size_t size;
};

struct jsonline_field {
	const char *key;
	struct jsonline value;
};

/* Finds fields of an object by their names, in one pass over it; of two with the same name the last one
 * counts. Returns 0, or -1: it is no object, or no whole one; then no field has a value. */
int jsonline_object(struct jsonline object, struct jsonline_field *fields, size_t count);

/* One field of an object; nothing if there is none. */
struct jsonline jsonline_get(struct jsonline object, const char *key);

/* Goes from member to member of an object or from element to element of a list (key: NULL); begin with a
 * cursor of 0. False at the end. */
bool jsonline_next(struct jsonline value, size_t *cursor, struct jsonline *ret_key,
		   struct jsonline *ret_value);

/* Is it this string? (one without escapes) */
bool jsonline_is(struct jsonline value, const char *text);
bool jsonline_is_true(struct jsonline value);
bool jsonline_is_string(struct jsonline value);

/* A whole number that is not negative; -1 if it is none. */
int64_t jsonline_count(struct jsonline value);

/* A decimal number, not negative, times 10^9 and rounded; -1 if it is none or too large. */
int64_t jsonline_nano(struct jsonline value);

/*
 * Appends a string, decoded; of one that is longer than `most` the end. What is no UTF-8 becomes U+FFFD, and
 * so does the character NUL. False: it is no string, and nothing was added.
 */
bool jsonline_text(struct jsonline value, size_t most, struct buffer *out);

#endif
