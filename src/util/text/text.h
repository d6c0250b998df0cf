/* Text for terminals and reports, and parsers for numbers with units. */
#ifndef UTIL_TEXT_TEXT_H
#define UTIL_TEXT_TEXT_H

#include "util/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the valid UTF-8 sequence at text, or 0. *ret_point is its code point. */
size_t text_utf8(const char *text, size_t size, uint32_t *ret_point);

/* Can the character move the cursor, change colours, or reorder the text that a person reads, or is
 * it invisible? */
bool text_is_unsafe(uint32_t point);

/* Returns the rest of text after prefix, or NULL if it does not start with prefix. */
const char *text_after_prefix(const char *text, const char *prefix);

/* Truncate without splitting characters: text_first() returns the length of the longest head, and
 * text_last() the offset of the longest tail, of at most `most` bytes. */
size_t text_first(const char *text, size_t size, size_t most);
size_t text_last(const char *text, size_t size, size_t most);

/* Returns the first line that is not blank, cut to this many bytes, with " ..." if more follows; or
 * NULL if there is none, or no text. The caller frees it. */
char *text_first_line(const char *text, size_t most);

/*
 * Appends text in a form that is safe for terminals: control characters, DEL, invalid UTF-8 and
 * invisible direction marks become \xNN; backslashes are doubled.
 */
void text_escape(struct buffer *out, const char *text);

/* Appends a text after a space, or, if it has several lines, each of them after a newline and
 * "  | ", so that none can pose as something else. Nothing is escaped. */
void text_add_block(struct buffer *out, const char *text);

/* Returns the escaped text as a new string; the caller frees it. */
char *text_escaped(const char *text);

/* Escapes bytes, which may include NULs. */
void text_escape_bytes(struct buffer *out, const char *bytes, size_t size);

/* Appends text as a quoted JSON string. Characters that are unsafe for terminals become \uNNNN, and
 * invalid UTF-8 becomes U+FFFD. */
void text_json(struct buffer *out, const char *text);

/* Appends bytes as a quoted JSON string; NULs also become U+FFFD, because most JSON parsers reject
 * them. */
void text_json_bytes(struct buffer *out, const char *bytes, size_t size);

/*
 * Parses "90s", "10m", "2h", "1d", "1h30m"; a bare number is minutes. Returns 0, or -1 if the text
 * is malformed, zero, or above 365 days.
 */
int text_duration_ms(const char *text, uint64_t *ret_ms);

/* Parses "4096", "64K", "512M", "4G", "1T": bytes, in units of 1024. Returns 0, or -1 if the text
 * is malformed, zero, or above 2^60. */
int text_bytes(const char *text, uint64_t *ret_bytes);

/* Returns a size as people read it, such as "12 MiB". The caller frees it. */
char *text_size(uint64_t bytes);

/* Returns how long ago something was, such as "2 h ago". The caller frees it. */
char *text_age(int64_t age_ms);

/* Parses a number such as "64". Returns 0, or -1 if the text is malformed, zero, or above 2^31 -
 * 1. */
int text_count(const char *text, uint64_t *ret_count);

/* Parses "2", "1.5", "0.125" into thousandths. Returns 0, or -1 if the text is malformed, zero,
 * above a million, or has more than three decimal places. */
int text_thousandths(const char *text, uint64_t *ret_thousandths);

/* Append bytes and milliseconds in the format that the parsers above accept, in the largest units
 * that fit. */
void text_add_bytes(struct buffer *out, uint64_t bytes);
void text_add_duration(struct buffer *out, uint64_t ms);

/* The edit distance of two words: insertions, deletions, substitutions, and swaps of neighbours. */
size_t text_distance(const char *a, const char *b);

/* Is a known word similar to this one, and more so than at *distance? Then *distance is updated; it
 * begins as SIZE_MAX. */
bool text_is_nearer(const char *word, const char *known, size_t *distance);

#endif
