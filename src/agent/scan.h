/*
 * JSON without a tree: values are looked at where they stand in the text. An agent's stream is mostly long
 * strings that nobody asks for (what tools printed, files that were written); they are skipped by memchr(),
 * and nothing is allocated.
 *
 * It is lenient in what it skips and strict in what it takes: a text that ends too early, or whose brackets
 * do not match, is refused as a whole; numbers, escapes and UTF-8 are judged only where they are read.
 */
#ifndef AGENT_SCAN_H
#define AGENT_SCAN_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_DEEPEST = 256 };

/* The text of one value, without white space around it; at NULL: there is none. */
struct scan {
	const char *at;
	size_t size;
};

struct scan_field {
	const char *key;
	struct scan value;
};

/* Finds fields of an object by their names, in one pass over it; of two with the same name the last one
 * counts. Returns 0, or -1: it is no object, or no whole one; then no field has a value. */
int scan_object(struct scan object, struct scan_field *fields, size_t count);

/* One field of an object; nothing if there is none. */
struct scan scan_get(struct scan object, const char *key);

/* Goes from member to member of an object or from element to element of a list (key: NULL); begin with a
 * cursor of 0. False at the end. */
bool scan_next(struct scan value, size_t *cursor, struct scan *ret_key, struct scan *ret_value);

/* Is it this string? (one without escapes) */
bool scan_is(struct scan value, const char *text);
bool scan_is_true(struct scan value);
bool scan_is_string(struct scan value);

/* A whole number that is not negative; -1 if it is none. */
int64_t scan_count(struct scan value);

/* A decimal number, not negative, times 10^9 and rounded; -1 if it is none or too large. */
int64_t scan_nano(struct scan value);

/*
 * Appends a string, decoded; of one that is longer than `most` the end. What is no UTF-8 becomes U+FFFD, and
 * so does the character NUL. False: it is no string, and nothing was added.
 */
bool scan_text(struct scan value, size_t most, struct buffer *out);

#endif
