/*
 * Messages of the user to the agent of a loop: text for its next prompt.
 *
 * It counts there as the user's own words, but it may have been pasted from anywhere. So it is
 * cleaned (see lines.h) before it is stored, and quoted line by line in the prompt, where it cannot
 * imitate another part.
 */
#ifndef DECISION_TOLD_H
#define DECISION_TOLD_H

#include "util/buffer.h"
#include "util/error.h"

#include <stddef.h>

enum {
	TOLD_BYTES = 16 << 10, /* of a message */
	TOLD_MOST = 16,        /* messages that wait for a prompt, or for the end of an iteration */
	TOLD_SHORT = 300       /* bytes of the short form, with the final NUL */
};

/*
 * Returns the message without control characters, invisible marks and blank lines around it;
 * invalid UTF-8 becomes U+FFFD. The caller frees it. Returns NULL with err set if nothing is left,
 * or it is too long.
 */
char *told_clean(const char *bytes, size_t size, struct error *err);

/* Appends a cleaned message, with "> " before each line. */
void told_quote(const char *text, struct buffer *out);

/* Writes the beginning of a message as one line. Returns the size. */
size_t told_shorten(const char *text, char *out, size_t room);

#endif
