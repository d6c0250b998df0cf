/*
 * Addresses: how they may be spelled, and which of them are the public internet's.
 *
 * Pure functions. An allow list of names is worth nothing if a name may lead to the machine itself, to the
 * network behind it, or to a cloud's metadata; so whatever is not known to be public is special, and an
 * address that has another one inside (mapped, NAT64, 6to4, Teredo) is as special as that one.
 */
#ifndef GATEWAY_PROXY_ADDRESS_H
#define GATEWAY_PROXY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_TEXT = 48 };

struct address {
	uint8_t family; /* 4 or 6; 0: none */
	uint8_t bytes[16];
};

/* Reads the canonical spelling alone: "192.0.2.1", and for IPv6 what RFC 5952 says. 0, or -1. */
int address_parse(const char *text, struct address *ret_address);

/* Would a resolver or a URL parser take this name for an IPv4 address, in whichever spelling? */
bool address_like(const char *text);

void address_text(const struct address *address, char ret_text[ADDRESS_TEXT]);
bool address_equal(const struct address *a, const struct address *b);

/* Why this is no public address ("loopback", "a private network"); NULL if it is one. */
const char *address_special(const struct address *address);

/* From and to the kernel's form. Returns 0, or -1 if it is of another family. */
int address_from(const struct sockaddr *from, struct address *ret_address);
socklen_t address_to(const struct address *address, uint16_t port, struct sockaddr_storage *ret_to);

#endif
