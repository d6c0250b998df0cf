/*
 * Foreign text, line by line: for the files of this room.
 *
 * Text is bytes with a size: it may hold NUL, be torn anywhere, and be large. Nothing here
 * allocates.
 */
#ifndef DECISION_LINES_H
#define DECISION_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_line {
	const char *text;
	size_t size; /* without the newline, and without a carriage return before it */
};

/* Takes the line at *at, and moves *at behind it. Returns false at the end of the text. */
bool lines_next(const char **at, const char *end, struct lines_line *ret_line);

/*
 * Writes the line to out, which has this room, as a person would see it: what a carriage return
 * overwrote, escape sequences, control characters and invisible marks are gone, a tab is a space,
 * and a byte that is no UTF-8 is U+FFFD. Ends in NUL; what does not fit is cut between characters.
 * Returns the size; *ret_cut, which may be NULL, says whether something was cut.
 */
size_t lines_clean(const struct lines_line *line, char *out, size_t room, bool *ret_cut);

/* The code point at text and how many bytes it takes; a byte that is no UTF-8 is U+FFFD. */
size_t lines_utf8(const char *text, size_t size, uint32_t *ret_point);

/* Does the text begin with this, whatever the case? The second is in lower case. */
bool lines_begins(const char *text, const char *begin);

/* Where the words are in the text, whatever the case, or NULL. The words are in lower case. */
const char *lines_find(const char *text, const char *words);

/* Reads digits; a number that is too large is INT64_MAX. Returns the end, text if no digit. */
const char *lines_number(const char *text, int64_t *ret_number);

/* The ends of the range instead of an overflow. */
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
