/*
 * Line widths. On a terminal, long lines are wrapped at words or cut between characters. In a file
 * or a pipe, lines stay as long as they are, one item each, so that programs can search them.
 */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include "cli/view/color.h"
#include "util/buffer.h"

#include <stddef.h>

enum { PAGE_PROSE = 80 }; /* the widest line of prose */

/* The columns of the terminal on stdout; 0 if it is not a terminal or its width is unknown. */
int page_width(void);

/* The number of columns of a text, and the number of leading bytes that fit in `columns`. */
int page_columns(const char *text);
size_t page_first(const char *text, int columns);

/*
 * Appends text, wrapped. The first line starts at column `from`, the others at column `indent`. No
 * line is wider than `width`, unless it is a single word. With width 0 nothing is wrapped.
 */
void page_wrap(struct buffer *out, const char *text, int from, int indent, int width);

/* Prints text on stdout with a newline, wrapped to the terminal. */
void page_print(const char *text, int indent);

/* Prints a coloured line and flushes. Characters that are unsafe on a terminal are escaped. */
void page_print_line(enum color colour, const char *text, int indent);

/* Prints a sentence on stderr after a prefix ("ringfence:"), escaped and wrapped. */
void page_report(const char *prefix, const char *text);

#endif
