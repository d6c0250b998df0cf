// sources: src/meter/mask.c
/*
 * A secret in a stream of bytes: however the stream is split, the output is the same, has the same
 * length, and does not contain the secret.
 */
#include "fuzz.h"

#include "meter/mask.h"

#include <stdlib.h>
#include <string.h>

/* It repeats its own beginning, and has all characters that JSON escapes. */
static const char secret[] = "sk/sk/\"\\0";

static void pass(const char *data, size_t size, size_t piece, struct buffer *out)
{
	AUTO_BUFFER struct buffer scratch = BUFFER_INIT((1 << 16) + MASK_LONGEST);
	struct mask mask;
	const char *bytes;

	mask_init(&mask, secret);
	for (size_t at = 0; at < size; at += piece) {
		size_t left = size - at < piece ? size - at : piece;
		size_t passed = mask_feed(&mask, data + at, left, &scratch, &bytes);

		if (mask.held >= MASK_LETTER * strlen(secret))
			abort();
		buffer_add(out, bytes, passed);
	}

	size_t held = mask_end(&mask, &bytes);

	buffer_add(out, bytes, held);
}

void fuzz_mask(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer whole = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer pieces = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer again = BUFFER_INIT(1 << 16);

	if (size == 0 || size > 1 << 16)
		return;
	pass((const char *)data, size, size, &whole);
	pass((const char *)data, size, 1 + data[0] % 7, &pieces);
	pass(whole.data, whole.used, size, &again);
	if (whole.used != size || pieces.used != size || again.used != size ||
	    memcmp(whole.data, pieces.data, size) != 0 ||
	    memcmp(whole.data, again.data, size) != 0 ||
	    memmem(whole.data, size, secret, strlen(secret)))
		abort();
}

FUZZ_TARGET(fuzz_mask)
