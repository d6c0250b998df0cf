/*
 * Regular expressions as models write them, for regcomp(), which is older: \d, \w within a class, (?:...), fewest instead of most,
 * and a brace that is no count. A pure function.
 */
#ifndef BUILTIN_TOOL_PATTERN_H
#define BUILTIN_TOOL_PATTERN_H

#include "util/buffer.h"

/* Appends an extended regular expression that means the same. What it does not know stays as it is. */
void pattern_translate(const char *pattern, struct buffer *out);

#endif
