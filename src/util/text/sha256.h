/* SHA-256 (FIPS 180-4), built in to avoid a library dependency. */
#ifndef UTIL_TEXT_SHA256_H
#define UTIL_TEXT_SHA256_H

#include <stddef.h>

enum { SHA256_HEX = 65 }; /* 64 digits and a NUL */

/* Writes the hash as lower-case hexadecimal digits. */
void sha256_hex(const void *data, size_t size, char ret_hex[SHA256_HEX]);

#endif
