/* Base64: see base64.h. */
#include "util/text/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes the first three bytes, or the one or two that are left. */
static void add_group(struct buffer *out, const unsigned char *bytes, size_t left)
{
	uint32_t group = (uint32_t)bytes[0] << 16 | (left > 1 ? (uint32_t)bytes[1] << 8 : 0) |
			 (left > 2 ? (uint32_t)bytes[2] : 0);
	const char text[4] = { digits[group >> 18 & 63], digits[group >> 12 & 63],
			       left > 1 ? digits[group >> 6 & 63] : '=',
			       left > 2 ? digits[group & 63] : '=' };

	buffer_add(out, text, sizeof text);
}

void base64_add(struct buffer *out, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i += 3)
		add_group(out, at + i, size - i);
}
