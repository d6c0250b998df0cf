/*
 * How wide lines are: a terminal has its columns, and what is longer is wrapped at words or cut between characters. What goes to
 * a file or into a pipe is left as long as it is, one thing a line, for programs that look for it.
 */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include "cli/view/color.h"
#include "util/buffer.h"

#include <stddef.h>

enum { PAGE_PROSE = 80 }; /* what is meant to be read is no wider */

/* The columns of the terminal on stdout; 0: it is none, or does not know. */
int page_width(void);

/* How many columns a text takes, and how many of its first bytes take at most so many. */
int page_columns(const char *text);
size_t page_first(const char *text, int columns);

/*
 * Appends text, whose first line goes on at column `from`; the others begin at column `indent`, and none is wider than
 * `width`, unless it is one word. 0: it stays one line.
 */
void page_wrap(struct buffer *out, const char *text, int from, int indent, int width);

/* The same on stdout, as wide as the terminal, with the end of a line. */
void page_print(const char *text, int indent);

/* A line of its own in a colour, at once: what a terminal could not show harmlessly is escaped. */
void page_tell(enum color colour, const char *text, int indent);

/* A sentence on stderr, escaped, as wide as the terminal there: "ringfence: ...". */
void page_report(const char *who, const char *text);

#endif
