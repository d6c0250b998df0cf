/* Base64 (RFC 4648), with padding. */
#ifndef UTIL_TEXT_BASE64_H
#define UTIL_TEXT_BASE64_H

#include "util/buffer.h"

#include <stddef.h>

/* Appends the encoded bytes. */
void base64_add(struct buffer *out, const void *bytes, size_t size);

#endif
