/*
 * Translates regular expressions as models write them to the POSIX syntax of regcomp(): \d, \w in a
 * bracket expression, (?:...), lazy quantifiers, and a literal brace. A pure function.
 */
#ifndef BUILTIN_TOOL_PATTERN_H
#define BUILTIN_TOOL_PATTERN_H

#include "util/buffer.h"

/* Appends an equivalent extended regular expression. Unknown constructs are copied as they are. */
void pattern_translate(const char *pattern, struct buffer *out);

#endif
