/*
 * Foreign text, line by line: for the files of this room.
 *
 * Text is bytes with a size: it may hold NUL, be torn anywhere, and be large. Nothing here
 * allocates.
 */
#ifndef GUARD_LINES_H
#define GUARD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard_line {
	const char *text;
	size_t size; /* without the newline, and without a carriage return before it */
};

/* Takes the line at *at, and moves *at behind it. Returns false at the end of the text. */
bool guard_line_next(const char **at, const char *end, struct guard_line *ret_line);

/*
 * Writes the line to out, which has this room, as a person would see it: what a carriage return
 * overwrote, escape sequences, control characters and invisible marks are gone, a tab is a space,
 * and a byte that is no UTF-8 is U+FFFD. Ends in NUL; what does not fit is cut between characters.
 * Returns the size; *ret_cut, which may be NULL, says whether something was cut.
 */
size_t guard_line_clean(const struct guard_line *line, char *out, size_t room, bool *ret_cut);

/* The code point at text and how many bytes it takes; a byte that is no UTF-8 is U+FFFD. */
size_t guard_utf8(const char *text, size_t size, uint32_t *ret_point);

/* Does the text begin with this, whatever the case? The second is in lower case. */
bool guard_begins(const char *text, const char *begin);

/* Where the words are in the text, whatever the case, or NULL. The words are in lower case. */
const char *guard_find(const char *text, const char *words);

/* Reads digits; a number that is too large is INT64_MAX. Returns the end, text if no digit. */
const char *guard_number(const char *text, int64_t *ret_number);

/* The ends of the range instead of an overflow. */
int64_t guard_add(int64_t a, int64_t b);
int64_t guard_multiply(int64_t a, int64_t b);

static inline char guard_lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static inline bool guard_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool guard_letter(char c)
{
	return guard_lower(c) >= 'a' && guard_lower(c) <= 'z';
}

#endif
