/*
 * What of a check's output goes into the next prompt, and what is compared with the next failure.
 *
 * The output is foreign: it enters a prompt as data. Every line is cleaned (see lines.h), cut, and
 * quoted with "> "; what Ringfence says itself is not quoted, so that no output can imitate it.
 */
#ifndef DECISION_EXCERPT_H
#define DECISION_EXCERPT_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EXCERPT_EXCERPT_MAX = 4000,     /* bytes of an excerpt, where nobody says otherwise */
	EXCERPT_EXCERPT_LINE_MAX = 400, /* bytes of a line in it */
};

/*
 * Appends at most max bytes: the lines around the first and the last one that look like a failure,
 * else the head and the tail, and "[... 123 lines left out ...]" where something is missing.
 */
void excerpt_make(struct buffer *out, const char *output, size_t size, size_t max);

/*
 * The last line with something in it, cleaned and cut to the room. What make says when a command has failed (make: *** ...)
 * is the last one only if there is no other. Returns the size; 0: there is none.
 */
size_t excerpt_last_line(const char *output, size_t size, char *out, size_t room);

/* Does a cleaned line look like a failure? "0 errors" and a test that passed do not. */
bool excerpt_looks_failed(const char *line);

/*
 * A number for what failed, the same when the same fails again: of the lines that look like
 * failures (of all, if none does) without what changes by itself: numbers, addresses, hashes,
 * times, temporary folders. The order of the lines does not matter, nor how often one is there; the
 * first 64 different ones count. 0 if there is no text.
 */
uint64_t excerpt_signature(const char *output, size_t size);

/* One cleaned line as the signature sees it. Returns the size. */
size_t excerpt_signature_line(const char *line, char *out, size_t room);

#endif
