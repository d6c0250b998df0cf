/* SHA-256 (FIPS 180-4), built in to avoid a library dependency. */
#ifndef UTIL_TEXT_SHA256_H
#define UTIL_TEXT_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX = 65 }; /* 64 digits and a NUL */

/* A hash of bytes that come in pieces. */
struct sha256 {
	uint32_t state[8];
	uint64_t size;
	uint8_t block[64];
};

void sha256_init(struct sha256 *sha256);
void sha256_add(struct sha256 *sha256, const void *data, size_t size);

/* Writes the hash as lower-case hexadecimal digits. */
void sha256_end(struct sha256 *sha256, char ret_hex[SHA256_HEX]);

/* The same at once. */
void sha256_hex(const void *data, size_t size, char ret_hex[SHA256_HEX]);

/* A keyed hash (HMAC, RFC 2104) of a text: only who knows the secret can compute it. The secret
 * has at most 64 bytes. */
void sha256_hmac_hex(const char *secret, const char *text, char ret_hex[SHA256_HEX]);

#endif
