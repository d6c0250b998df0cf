/* Text for terminals and reports, and small readers of numbers. */
#ifndef UTIL_TEXT_H
#define UTIL_TEXT_H

#include "util/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* The length of the valid UTF-8 sequence at text, or 0; *ret_point is the code point. */
size_t text_utf8(const char *text, size_t size, uint32_t *ret_point);

/*
 * Appends text so that a terminal can show it: control characters, DEL, bytes that are no valid
 * UTF-8 and the invisible direction marks become \xNN; a backslash becomes two.
 */
void text_escape(struct buffer *out, const char *text);

/* The same as a new string; the caller frees. */
char *text_escaped(const char *text);

/* Appends text as a JSON string with its quotes. Bytes that are no valid UTF-8 become U+FFFD. */
void text_json(struct buffer *out, const char *text);

/*
 * "90s", "10m", "2h", "1d", "1h30m"; a bare number is minutes. Returns 0, or -1 if it is none of
 * these, zero, or above 365 days.
 */
int text_duration_ms(const char *text, uint64_t *ret_ms);

/* How far apart two words are: insertions, deletions, substitutions, and swaps of neighbours. */
size_t text_distance(const char *a, const char *b);

#endif
