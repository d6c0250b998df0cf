/*
 * SOCKS5 (RFC 1928, 1929): the three messages of a client. Pure functions.
 *
 * Each takes the bytes received so far and returns the size of the message, 0 if it is incomplete,
 * or -1 if it is invalid.
 */
#ifndef GATEWAY_PROXY_SOCKS_H
#define GATEWAY_PROXY_SOCKS_H

#include "gateway/proxy/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SOCKS_VERSION = 5 };

enum socks_reply {
	SOCKS_DONE = 0,
	SOCKS_FAILED = 1,
	SOCKS_REFUSED = 2,
	SOCKS_UNREACHABLE = 4,
	SOCKS_CONNECTION_REFUSED = 5,
	SOCKS_NO_COMMAND = 7,
	SOCKS_NO_ADDRESS = 8,
};

struct socks_methods {
	bool none;
	bool password;
};

struct socks_password {
	char user[256];
	char password[256];
};

struct socks_request {
	uint8_t command;         /* 1: CONNECT */
	bool known;              /* the address type is supported; otherwise the host is empty */
	char host[GATEWAY_HOST]; /* as sent; empty if it contains a NUL */
	uint16_t port;
};

ssize_t socks_read_methods(const uint8_t *bytes, size_t size, struct socks_methods *ret_methods);
ssize_t socks_read_password(const uint8_t *bytes, size_t size, struct socks_password *ret_password);
ssize_t socks_read_request(const uint8_t *bytes, size_t size, struct socks_request *ret_request);

enum { SOCKS_REPLY = 10 };

void socks_write_reply(enum socks_reply reply, uint8_t ret_bytes[SOCKS_REPLY]);

#endif
