/* Reads what `gh api --include` prints: the head of a response, and its body. */
#ifndef LAND_LAND_GH_H
#define LAND_LAND_GH_H

#include "https/https_message.h"

enum { LAND_GH_BYTES = 64 << 20 }; /* most bytes of a body */

/* The text ends with a NUL that does not count. Returns 0, or -1 if it does not begin with a head.
 * The caller releases *ret_response. */
int land_gh_read(const char *text, size_t size, struct https_response *ret_response);

#endif
