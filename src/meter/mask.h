/*
 * Takes a secret out of bytes that pass, in pieces: each of its letters becomes an x, so that no length changes.
 *
 * It is found as it is, and as JSON may write it: each letter by itself or escaped ("\u0073", "\/"), also in a text
 * within a text ("\\u0073"). What may be the beginning of it is held back until that is known.
 */
#ifndef METER_MASK_H
#define METER_MASK_H

#include "util/buffer.h"

#include <stddef.h>

enum {
	MASK_SHORTEST = 8,
	MASK_SECRET = 512, /* bytes of the longest */
	MASK_SLASHES = 4,  /* before a letter: of a text in a text in a text */
	MASK_LETTER = MASK_SLASHES + 5,
	MASK_LONGEST = MASK_LETTER *
		       MASK_SECRET, /* where each letter is escaped: no more is held back */
};

struct mask {
	const char *secret; /* borrowed */
	size_t size; /* 0: there is none, or it is none by its length, and nothing is masked */
	size_t held;
	char kept[MASK_LONGEST];
};

void mask_init(struct mask *mask, const char *secret);

/*
 * Bytes that pass: *ret_bytes is what goes on now (the same bytes, if there is nothing to do; else what the buffer was
 * filled with). Returns how many.
 */
size_t mask_feed(struct mask *mask, const char *bytes, size_t size, struct buffer *scratch,
		 const char **ret_bytes);

/* At the end: what was held back. */
size_t mask_end(struct mask *mask, const char **ret_bytes);

/* A text that is whole, and a secret of any length. */
void mask_text(const char *secret, char *text, size_t size);

#endif
