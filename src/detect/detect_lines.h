/* A source file as lines, in three forms that are compared. */
#ifndef DETECT_DETECT_LINES_H
#define DETECT_DETECT_LINES_H

#include "detect/detect_file.h"
#include "detect/detect_finding.h"

#include <stdbool.h>
#include <stdint.h>

struct detect_line {
	char *text;  /* without indentation and trailing blanks; a very long line is cut */
	char *code;  /* the same, with comments and the contents of strings blanked, at the same
			positions */
	char *shape; /* the code with all literals replaced by 0, and without blanks */
	size_t indent;
	bool asserts; /* set by detect_tests_find() */
};

struct detect_lines {
	struct detect_line *items;
	size_t count;
	uint64_t steps; /* what is left of the work that blocks may cause */
};

/* Reads a text. A text that does not exist, is very large, or is binary and not source
 * code, has no lines. */
void detect_lines_read(const struct detect_text *text, enum detect_language language,
		       struct detect_lines *ret_lines);
void detect_lines_release(struct detect_lines *lines);

/* Takes the steps of looking at a line once more. Returns false if there are none left: code that
 * people write needs a small part of them. */
bool detect_lines_step(struct detect_lines *lines, size_t line);

/* Returns the index of the line after the block that begins at line `from`: by braces or brackets,
 * by `end`, or by indentation, as the language does. It is cut if there are no steps left. */
size_t detect_lines_block(struct detect_lines *lines, enum detect_language language, size_t from);

#endif
