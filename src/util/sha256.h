/* SHA-256 (FIPS 180-4), so that the program needs no library for it. */
#ifndef UTIL_SHA256_H
#define UTIL_SHA256_H

#include <stddef.h>

enum { SHA256_HEX = 65 }; /* 64 digits and the end of the string */

/* The hash of these bytes as lower-case hexadecimal digits. */
void sha256_hex(const void *data, size_t size, char ret_hex[SHA256_HEX]);

#endif
