/*
 * Addresses: their spelling, and which of them belong to the public internet.
 *
 * Pure functions. An allow list of names is worthless if a name can lead to this machine, its
 * private network, or a cloud's metadata service. So any address not known to be public is special,
 * and an address with another one embedded (mapped, NAT64, 6to4, Teredo) is as special as that one.
 */
#ifndef GATEWAY_PROXY_ADDRESS_H
#define GATEWAY_PROXY_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_TEXT = 48 };

struct address {
	uint8_t family; /* 4 or 6, or 0 if unset */
	uint8_t bytes[16];
};

/* Parses only the canonical spelling: "192.0.2.1", and RFC 5952 for IPv6. Returns 0 or -1. */
int address_parse(const char *text, struct address *ret_address);

/* Returns true if a resolver or URL parser would read this name as an IPv4 address, in any
 * spelling. */
bool address_like(const char *text);

void address_text(const struct address *address, char ret_text[ADDRESS_TEXT]);
bool address_equal(const struct address *a, const struct address *b);

/* Returns why this is not a public address ("loopback", "a private network"), or NULL if it is. */
const char *address_special(const struct address *address);

/* Convert from and to the kernel's format. Return 0, or -1 for another address family. */
int address_from(const struct sockaddr *from, struct address *ret_address);
socklen_t address_to(const struct address *address, uint16_t port, struct sockaddr_storage *ret_to);

#endif
