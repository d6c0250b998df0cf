/*
 * Addresses: how they may be spelled, and which of them are the public internet's.
 *
 * Pure functions. An allow list of names is worth nothing if a name may lead to the machine itself, to the
 * network behind it, or to a cloud's metadata; so whatever is not known to be public is special, and an
 * address that has another one inside (mapped, NAT64, 6to4, Teredo) is as special as that one.
 */
#ifndef GATEWAY_ADDRESS_H
#define GATEWAY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { GATEWAY_ADDRESS_TEXT = 48 };

struct gateway_address {
	uint8_t family; /* 4 or 6; 0: none */
	uint8_t bytes[16];
};

/* Reads the canonical spelling alone: "192.0.2.1", and for IPv6 what RFC 5952 says. 0, or -1. */
int gateway_address_parse(const char *text, struct gateway_address *ret_address);

/* Would a resolver or a URL parser take this name for an IPv4 address, in whichever spelling? */
bool gateway_address_like(const char *text);

void gateway_address_text(const struct gateway_address *address,
			  char ret_text[GATEWAY_ADDRESS_TEXT]);
bool gateway_address_equal(const struct gateway_address *a, const struct gateway_address *b);

/* Why this is no public address ("loopback", "a private network"); NULL if it is one. */
const char *gateway_address_special(const struct gateway_address *address);

/* From and to the kernel's form. Returns 0, or -1 if it is of another family. */
int gateway_address_from(const struct sockaddr *from, struct gateway_address *ret_address);
socklen_t gateway_address_to(const struct gateway_address *address, uint16_t port,
			     struct sockaddr_storage *ret_to);

#endif
