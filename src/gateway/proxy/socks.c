/* SOCKS5 messages: see socks.h. */
#include "gateway/proxy/socks.h"

#include <string.h>

ssize_t socks_read_methods(const uint8_t *bytes, size_t size, struct socks_methods *ret_methods)
{
	struct socks_methods methods = { 0 };

	if (size >= 1 && bytes[0] != SOCKS_VERSION)
		return -1;
	if (size >= 2 && bytes[1] == 0)
		return -1;
	if (size < 2 || size < 2U + bytes[1])
		return 0;
	for (size_t i = 0; i < bytes[1]; i++) {
		methods.none |= bytes[2 + i] == 0;
		methods.password |= bytes[2 + i] == 2;
	}
	*ret_methods = methods;
	return 2 + bytes[1];
}

/* Reads a string with a length prefix at *at. Returns false if it is incomplete. */
static bool read_string(const uint8_t *bytes, size_t size, size_t *at, char ret_text[256])
{
	if (*at >= size || size - *at - 1 < bytes[*at])
		return false;

	size_t length = bytes[*at];

	memcpy(ret_text, bytes + *at + 1, length);
	ret_text[length] = '\0';
	*at += 1 + length;
	return true;
}

ssize_t socks_read_password(const uint8_t *bytes, size_t size, struct socks_password *ret_password)
{
	struct socks_password password;
	size_t at = 1;

	if (size >= 1 && bytes[0] != 1)
		return -1;
	if (!read_string(bytes, size, &at, password.user) ||
	    !read_string(bytes, size, &at, password.password))
		return 0;
	*ret_password = password;
	return (ssize_t)at;
}

static void write_address(uint8_t family, const uint8_t *bytes, char ret_host[GATEWAY_HOST])
{
	struct address address = { .family = family };
	char text[ADDRESS_TEXT];

	memcpy(address.bytes, bytes, family == 4 ? 4 : 16);
	address_text(&address, text);
	memcpy(ret_host, text, strlen(text) + 1);
}

ssize_t socks_read_request(const uint8_t *bytes, size_t size, struct socks_request *ret_request)
{
	enum { HEAD = 4, PORT = 2 };
	struct socks_request request = { 0 };
	size_t address;

	if (size >= 1 && bytes[0] != SOCKS_VERSION)
		return -1;
	if (size >= 3 && bytes[2] != 0)
		return -1;
	if (size < HEAD + 1)
		return 0;
	request.command = bytes[1];
	request.known = true;
	switch (bytes[3]) {
	case 1:
		address = 4;
		break;
	case 3:
		address = 1U + bytes[HEAD];
		break;
	case 4:
		address = 16;
		break;
	default:
		request.known = false;
		*ret_request = request;
		return HEAD;
	}
	if (size < HEAD + address + PORT)
		return 0;
	if (bytes[3] == 3) {
		size_t length = address - 1;

		if (length < GATEWAY_HOST && !memchr(bytes + HEAD + 1, '\0', length)) {
			memcpy(request.host, bytes + HEAD + 1, length);
			request.host[length] = '\0';
		}
	} else {
		write_address(bytes[3] == 1 ? 4 : 6, bytes + HEAD, request.host);
	}
	request.port = (uint16_t)(bytes[HEAD + address] << 8 | bytes[HEAD + address + 1]);
	*ret_request = request;
	return (ssize_t)(HEAD + address + PORT);
}

void socks_write_reply(enum socks_reply reply, uint8_t ret_bytes[SOCKS_REPLY])
{
	const uint8_t bytes[SOCKS_REPLY] = { SOCKS_VERSION, (uint8_t)reply, 0, 1 };

	memcpy(ret_bytes, bytes, sizeof bytes);
}
