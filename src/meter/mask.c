/* Takes a secret out of bytes that pass: see mask.h. */
#include "meter/mask.h"

#include <string.h>

void mask_init(struct mask *mask, const char *secret)
{
	size_t size = secret ? strlen(secret) : 0;

	*mask = (struct mask){ 0 };
	if (size >= MASK_SHORTEST && size <= MASK_LONGEST)
		*mask = (struct mask){ .secret = secret, .size = size };
}

/* How many of the last bytes are the beginning of the secret. */
static size_t tail(const struct mask *mask, const char *bytes, size_t size)
{
	const char *end = bytes + size;
	const char *at = size < mask->size ? bytes : end - (mask->size - 1);

	while ((at = memchr(at, mask->secret[0], (size_t)(end - at)))) {
		if (memcmp(at, mask->secret, (size_t)(end - at)) == 0)
			return (size_t)(end - at);
		at++;
	}
	return 0;
}

static void blot(const struct mask *mask, char *bytes, size_t size)
{
	char *at = bytes;

	while ((at = memmem(at, size - (size_t)(at - bytes), mask->secret, mask->size))) {
		memset(at, 'x', mask->size);
		at += mask->size;
	}
}

size_t mask_feed(struct mask *mask, const char *bytes, size_t size, struct buffer *scratch,
		 const char **ret_bytes)
{
	size_t kept;

	*ret_bytes = bytes;
	if (!mask->size || size == 0)
		return size;
	if (mask->held == 0 && !memmem(bytes, size, mask->secret, mask->size)) {
		mask->held = tail(mask, bytes, size);
		return size - mask->held;
	}
	scratch->used = 0;
	buffer_add(scratch, mask->secret, mask->held);
	buffer_add(scratch, bytes, size);
	blot(mask, scratch->data, scratch->used);
	kept = tail(mask, scratch->data, scratch->used);
	mask->held = kept;
	*ret_bytes = scratch->data;
	return scratch->used - kept;
}

size_t mask_end(struct mask *mask, const char **ret_bytes)
{
	size_t size = mask->held;

	*ret_bytes = mask->secret;
	mask->held = 0;
	return size;
}
