/*
 * Takes a secret out of bytes that pass, in pieces: each of its bytes becomes an x, so that no length changes.
 *
 * What may be the beginning of it is held back until that is known; at most a byte less than the secret is long.
 */
#ifndef METER_MASK_H
#define METER_MASK_H

#include "util/buffer.h"

#include <stddef.h>

enum { MASK_LONGEST = 512, MASK_SHORTEST = 8 };

struct mask {
	const char *secret; /* borrowed; NULL or shorter than MASK_SHORTEST: nothing is masked */
	size_t size;
	size_t held; /* of the secret's own first bytes */
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

#endif
