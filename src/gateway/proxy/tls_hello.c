/* ClientHello parser: see tls_hello.h. */
#include "gateway/proxy/tls_hello.h"

#include <stdbool.h>
#include <string.h>

enum {
	RECORD_HEAD = 5,
	RECORD_MOST = 16384,
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	SERVER_NAME = 0,
	HOST_NAME = 0,
};

struct span {
	const uint8_t *at;
	size_t left;
	bool torn;
};

static uint32_t take_number(struct span *span, size_t size)
{
	uint32_t number = 0;

	if (span->left < size) {
		span->torn = true;
		span->left = 0;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		number = number << 8 | span->at[i];
	span->at += size;
	span->left -= size;
	return number;
}

static struct span take(struct span *span, size_t size)
{
	struct span part = { span->at, size, false };

	if (span->left < size) {
		span->torn = part.torn = true;
		span->left = part.left = 0;
		return part;
	}
	span->at += size;
	span->left -= size;
	return part;
}

/* Consumes a part with a length prefix of `width` bytes. */
static struct span take_part(struct span *span, size_t width)
{
	return take(span, take_number(span, width));
}

static enum tls_hello read_server_name(struct span extension, char ret_name[GATEWAY_HOST])
{
	struct span list = take_part(&extension, 2);
	uint32_t type = take_number(&list, 1);
	struct span name = take_part(&list, 2);

	if (extension.torn || extension.left || list.torn || list.left || name.torn ||
	    type != HOST_NAME || name.left == 0 || name.left >= GATEWAY_HOST ||
	    memchr(name.at, '\0', name.left))
		return TLS_HELLO_WRONG;
	memcpy(ret_name, name.at, name.left);
	ret_name[name.left] = '\0';
	return TLS_HELLO_NAMED;
}

static enum tls_hello read_extensions(struct span extensions, char ret_name[GATEWAY_HOST])
{
	enum tls_hello found = TLS_HELLO_UNNAMED;

	while (extensions.left && !extensions.torn) {
		uint32_t type = take_number(&extensions, 2);
		struct span extension = take_part(&extensions, 2);

		if (extensions.torn)
			return TLS_HELLO_WRONG;
		if (type != SERVER_NAME)
			continue;
		if (found != TLS_HELLO_UNNAMED)
			return TLS_HELLO_WRONG;
		found = read_server_name(extension, ret_name);
		if (found == TLS_HELLO_WRONG)
			return found;
	}
	return extensions.torn ? TLS_HELLO_WRONG : found;
}

/* Parses the body of a complete ClientHello. */
static enum tls_hello read_body(struct span body, char ret_name[GATEWAY_HOST])
{
	uint32_t version = take_number(&body, 2);

	(void)take(&body, 32); /* random */

	struct span session = take_part(&body, 1);
	struct span ciphers = take_part(&body, 2);
	struct span compressions = take_part(&body, 1);

	if (body.torn || version >> 8 != 3 || session.left > 32 || ciphers.left < 2 ||
	    ciphers.left % 2 || compressions.left < 1)
		return TLS_HELLO_WRONG;
	if (body.left == 0)
		return TLS_HELLO_UNNAMED;

	struct span extensions = take_part(&body, 2);

	return body.torn || body.left ? TLS_HELLO_WRONG : read_extensions(extensions, ret_name);
}

enum tls_hello tls_hello_read(const uint8_t *bytes, size_t size, char ret_name[GATEWAY_HOST])
{
	uint8_t message[TLS_HELLO_MOST];
	size_t used = 0;
	size_t at = 0;

	if (size == 0)
		return TLS_HELLO_MORE;
	if (bytes[0] != HANDSHAKE)
		return TLS_HELLO_FOREIGN;
	while (at < size) {
		size_t left = size - at;

		if (bytes[at] != HANDSHAKE || (left > 1 && bytes[at + 1] != 3))
			return TLS_HELLO_WRONG;
		if (left < RECORD_HEAD)
			break;

		size_t record = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
		size_t here = left - RECORD_HEAD < record ? left - RECORD_HEAD : record;

		if (record == 0 || record > RECORD_MOST || used + here > sizeof message)
			return TLS_HELLO_WRONG;
		memcpy(message + used, bytes + at + RECORD_HEAD, here);
		used += here;
		if (used >= 1 && message[0] != CLIENT_HELLO)
			return TLS_HELLO_WRONG;
		if (used >= 4) {
			size_t whole = (size_t)message[1] << 16 | (size_t)message[2] << 8 |
				       message[3];

			if (whole > sizeof message - 4)
				return TLS_HELLO_WRONG;
			/* Data after the hello in its record would go unchecked. */
			if (used > whole + 4)
				return TLS_HELLO_WRONG;
			if (used == whole + 4)
				return here == record ? read_body((struct span){ message + 4, whole,
										 false },
								  ret_name)
						      : TLS_HELLO_WRONG;
		}
		at += RECORD_HEAD + record;
	}
	return size >= TLS_HELLO_MOST ? TLS_HELLO_WRONG : TLS_HELLO_MORE;
}
