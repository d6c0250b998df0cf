/* Text for terminals and reports, and small readers of numbers. */
#ifndef UTIL_TEXT_H
#define UTIL_TEXT_H

#include "util/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* The length of the valid UTF-8 sequence at text, or 0; *ret_point is the code point. */
size_t text_utf8(const char *text, size_t size, uint32_t *ret_point);

/* What is behind these words at its beginning, or NULL: it begins otherwise. */
const char *text_behind(const char *text, const char *words);

/* Cuts between characters: how many of the first bytes are at most so many; from where on the last ones are. */
size_t text_first(const char *text, size_t size, size_t most);
size_t text_last(const char *text, size_t size, size_t most);

/*
 * Appends text so that a terminal can show it: control characters, DEL, bytes that are no valid
 * UTF-8 and the invisible direction marks become \xNN; a backslash becomes two.
 */
void text_escape(struct buffer *out, const char *text);

/* The same as a new string; the caller frees. */
char *text_escaped(const char *text);

/* The same of bytes, NULs among them. */
void text_escape_bytes(struct buffer *out, const char *bytes, size_t size);

/* Appends text as a JSON string with its quotes; what a terminal could not show harmlessly becomes \uNNNN.
 * Bytes that are no valid UTF-8 become U+FFFD. */
void text_json(struct buffer *out, const char *text);

/* The same of bytes; a NUL becomes U+FFFD, too: most readers of JSON refuse it. */
void text_json_bytes(struct buffer *out, const char *bytes, size_t size);

/*
 * "90s", "10m", "2h", "1d", "1h30m"; a bare number is minutes. Returns 0, or -1 if it is none of
 * these, zero, or above 365 days.
 */
int text_duration_ms(const char *text, uint64_t *ret_ms);

/* "4096", "64K", "512M", "4G", "1T": bytes, in units of 1024. Returns 0, or -1 if it is none of these,
 * zero, or above 2^60. */
int text_bytes(const char *text, uint64_t *ret_bytes);

/* A number such as "64". Returns 0, or -1 if it is none, zero, or above 2^31 - 1. */
int text_count(const char *text, uint64_t *ret_count);

/* "2", "1.5", "0.125" in thousandths. Returns 0, or -1 if it is none of these, zero, above a million,
 * or has more than three digits behind the point. */
int text_thousandths(const char *text, uint64_t *ret_thousandths);

/* Appends bytes and milliseconds as the readers above take them, in the largest unit that fits. */
void text_add_bytes(struct buffer *out, uint64_t bytes);
void text_add_duration(struct buffer *out, uint64_t ms);

/* How far apart two words are: insertions, deletions, substitutions, and swaps of neighbours. */
size_t text_distance(const char *a, const char *b);

#endif
