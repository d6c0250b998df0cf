/*
 * A source file as statements. Code that is formatted in another way has the same ones, so that a
 * test on one line is compared like one on several lines.
 *
 * A statement ends at its end as the language has it, at the beginning and the end of a block, and
 * in the lists of a table after each row. In braces, a value with a name, such as `want: 2`, stands
 * alone. Comments are statements without code. Other files keep their lines.
 */
#ifndef DETECT_DETECT_STATEMENTS_H
#define DETECT_DETECT_STATEMENTS_H

#include "detect/detect_lines.h"

/* Reads a text like detect_lines_read(). */
void detect_statements_read(const struct detect_text *text, enum detect_language language,
			    struct detect_lines *ret_statements);

#endif
