/* A source file as lines, in three forms that are compared. */
#ifndef DETECT_DETECT_LINES_H
#define DETECT_DETECT_LINES_H

#include "detect/detect_file.h"
#include "detect/detect_finding.h"

struct detect_line {
	char *text;  /* without indentation and trailing blanks; a very long line is cut */
	char *code;  /* the same, with comments and the contents of strings blanked, at the same
			positions */
	char *shape; /* the code with all literals replaced by 0, and without blanks */
	size_t indent;
};

struct detect_lines {
	struct detect_line *items;
	size_t count;
};

/* Reads a text. A text that does not exist, is binary or is very large has no lines. */
void detect_lines_read(const struct detect_text *text, enum detect_language language,
		       struct detect_lines *ret_lines);
void detect_lines_release(struct detect_lines *lines);

/* Returns the index of the line after the block that begins at line `from`: by braces or brackets,
 * by `end`, or by indentation, as the language does. */
size_t detect_lines_block(const struct detect_lines *lines, enum detect_language language,
			  size_t from);

#endif
