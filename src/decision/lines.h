/*
 * Untrusted text, line by line: internal to this folder.
 *
 * Text is bytes with a size: it may contain NUL, be cut anywhere, and be large. Nothing here
 * allocates.
 */
#ifndef DECISION_LINES_H
#define DECISION_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_line {
	const char *text;
	size_t size; /* without the newline and a carriage return before it */
};

/* Reads the line at *at and moves *at past it. Returns false at the end of the text. */
bool lines_next(const char **at, const char *end, struct lines_line *ret_line);

/*
 * Writes the line to out as a person would see it: text overwritten after a carriage return, escape
 * sequences, control characters and invisible marks are removed, a tab becomes a space, and an
 * invalid UTF-8 byte becomes U+FFFD. The result ends in NUL and is cut between characters to fit
 * the room. Returns the size; *ret_cut, which may be NULL, reports whether anything was cut.
 */
size_t lines_clean(const struct lines_line *line, char *out, size_t room, bool *ret_cut);

/*
 * Writes the lines of a text as one, each cleaned like this, without white space around it, and
 * separated by a space; blank ones are left out. Returns the size.
 */
size_t lines_join(const char *text, size_t size, char *out, size_t room);

/* Returns the size of the code point at text in bytes; an invalid UTF-8 byte is read as U+FFFD. */
size_t lines_utf8(const char *text, size_t size, uint32_t *ret_point);

/* Does the text start with `begin`, ignoring case? `begin` is lower case. */
bool lines_begins(const char *text, const char *begin);

/*
 * Finds the words in the text, ignoring case; they are lower case. Returns NULL if they are
 * missing.
 */
const char *lines_find(const char *text, const char *words);

/*
 * Reads digits; a number that is too large becomes INT64_MAX. Returns the end, or text if there is
 * no digit.
 */
const char *lines_number(const char *text, int64_t *ret_number);

/* Arithmetic that saturates instead of overflowing. */
int64_t lines_add(int64_t a, int64_t b);
int64_t lines_multiply(int64_t a, int64_t b);

static inline char lines_lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static inline bool lines_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool lines_letter(char c)
{
	return lines_lower(c) >= 'a' && lines_lower(c) <= 'z';
}

#endif
