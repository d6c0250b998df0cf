/*
 * Excerpts of a check's output for the next prompt, and signatures that tell whether the same
 * failure happened again.
 *
 * The output is untrusted and enters a prompt as data. Every line is cleaned (see lines.h), cut,
 * and quoted with "> ". Ringfence's own lines are not quoted, so output cannot imitate them.
 */
#ifndef DECISION_EXCERPT_H
#define DECISION_EXCERPT_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EXCERPT_MAX = 4000,     /* default size of an excerpt in bytes */
	EXCERPT_LINE_MAX = 400, /* bytes of a line in an excerpt */
};

/*
 * Appends at most max bytes: the lines around the first and the last line that look like a failure,
 * otherwise the head and the tail. "[... 123 lines left out ...]" marks each gap.
 */
void excerpt_make(struct buffer *out, const char *output, size_t size, size_t max);

/* Appends at most max bytes: the first lines. A mark as above tells how many are left out. */
void excerpt_head(struct buffer *out, const char *text, size_t size, size_t max);

/*
 * Copies the last line that is not blank to out, cleaned and cut to the room. The report of make
 * about a failed command (make: *** ...) is used only if there is no other line. Returns the size,
 * or 0 if there is no line.
 */
size_t excerpt_last_line(const char *output, size_t size, char *out, size_t room);

/*
 * Copies the first line of an excerpt that has a word to out, without the quote and cut to the
 * room. Returns the size, or 0 if there is no such line.
 */
size_t excerpt_first_line(const char *excerpt, char *out, size_t room);

/* Does a cleaned line look like a failure? "0 errors" and a test that passed do not. */
bool excerpt_looks_failed(const char *line);

/*
 * Returns a number that is the same when the same failure happens again. It covers the lines that
 * look like failures (all lines if none does) without anything volatile: numbers, addresses,
 * hashes, times, temporary folders. Order and repetition of lines do not matter, and only the first
 * 64 distinct lines count. Returns 0 if there is no text.
 */
uint64_t excerpt_signature(const char *output, size_t size);

/* Writes one cleaned line as the signature sees it. Returns the size. */
size_t excerpt_signature_line(const char *line, char *out, size_t room);

#endif
