/*
 * JSON parsing without a tree: values are read where they stand in the text. An agent's stream is
 * mostly long strings that nobody needs (tool output, file contents); memchr() skips them, and
 * nothing is allocated.
 *
 * The parser is lenient in what it skips and strict in what it reads: text that ends too early or
 * has unbalanced brackets is refused as a whole; numbers, escapes and UTF-8 are validated only when
 * they are read.
 *
 * That is why jansson is not used here. It refuses a whole line for half a surrogate pair, an
 * invalid UTF-8 byte or an integer of 20 digits anywhere in the line. JavaScript prints such halves
 * whenever it cuts a string inside an emoji, and a lost `result` line is a turn that never ends.
 * Memory matters too: a line of 1 MiB can become a tree of 80 MiB. Speed does not (1.3 to 1.9 ms of
 * CPU per MiB against 13 to 15 ms, measured on 2026-11-17 with 100 MiB of each agent's
 * transcripts): no model writes that fast.
 */
#ifndef AGENT_JSONLINE_H
#define AGENT_JSONLINE_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSONLINE_DEEPEST = 256 };

/* The text of one value, without surrounding white space; `at` is NULL if there is no value. */
struct jsonline {
	const char *at;
	size_t size;
};

struct jsonline_field {
	const char *key;
	struct jsonline value;
};

/*
 * Finds fields of an object by name, in one pass. Of duplicate names the last one counts. Returns
 * 0, or -1 with all fields empty if this is not a complete object.
 */
int jsonline_object(struct jsonline object, struct jsonline_field *fields, size_t count);

/* Returns one field of an object, or an empty value. */
struct jsonline jsonline_get(struct jsonline object, const char *key);

/*
 * Iterates over the members of an object, or the elements of an array (which have no key). Start
 * with a cursor of 0. Returns false at the end.
 */
bool jsonline_next(struct jsonline value, size_t *cursor, struct jsonline *ret_key,
		   struct jsonline *ret_value);

/* Returns whether the value is this string; `text` must need no escapes. */
bool jsonline_is(struct jsonline value, const char *text);
bool jsonline_is_true(struct jsonline value);
bool jsonline_is_string(struct jsonline value);

/* Returns a whole number >= 0, or -1 if it is not one. */
int64_t jsonline_count(struct jsonline value);

/* Returns a decimal number >= 0, times 10^9 and rounded; -1 if it is invalid or too large. */
int64_t jsonline_nano(struct jsonline value);

/*
 * Appends a decoded string; one longer than `most` keeps its end. Invalid UTF-8 and NUL become
 * U+FFFD. Returns false, with nothing appended, if the value is not a string.
 */
bool jsonline_text(struct jsonline value, size_t most, struct buffer *out);

#endif
