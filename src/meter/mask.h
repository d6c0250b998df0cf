/*
 * Removes a secret from a stream of bytes: each of its letters becomes an x, so no length changes.
 *
 * The secret is found in plain form and in any JSON spelling: each letter plain or escaped
 * ("\u0073", "\/"), also in JSON within JSON ("\\u0073"). Bytes that may begin the secret are held
 * back until it is clear whether they do.
 */
#ifndef METER_MASK_H
#define METER_MASK_H

#include "util/buffer.h"

#include <stddef.h>

enum {
	MASK_SHORTEST = 8,
	MASK_SECRET = 512, /* maximum length of a secret, in bytes */
	MASK_SLASHES = 4,  /* before a letter, for JSON nested in JSON strings */
	MASK_LETTER = MASK_SLASHES + 5,
	MASK_LONGEST = MASK_LETTER *
		       MASK_SECRET, /* every letter escaped: the most that is held back */
};

struct mask {
	const char *secret; /* borrowed */
	/* 0: there is no secret, or its length is out of range, and nothing is masked */
	size_t size;
	size_t held;
	char kept[MASK_LONGEST];
};

void mask_init(struct mask *mask, const char *secret);

/* Masks bytes. Sets *ret_bytes to the output: the input itself if nothing changed, otherwise the
 * contents of `scratch`. Returns its size. */
size_t mask_feed(struct mask *mask, const char *bytes, size_t size, struct buffer *scratch,
		 const char **ret_bytes);

/* Ends the stream and returns the bytes that were held back. */
size_t mask_end(struct mask *mask, const char **ret_bytes);

/* Masks a complete text. The secret may have any length. */
void mask_text(const char *secret, char *text, size_t size);

#endif
