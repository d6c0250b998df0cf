/* A source file as lines, in the forms that are compared. */
#ifndef DETECT_DETECT_LINES_H
#define DETECT_DETECT_LINES_H

#include "detect/detect_file.h"
#include "detect/detect_finding.h"

#include <stdbool.h>
#include <stdint.h>

/* A larger text is not read, and of a longer line only the beginning. */
enum { DETECT_LINES_BYTES = 2 << 20, DETECT_LINES_COLUMNS = 1000 };

/* A line of a file, or a statement in it (detect_statements.h). */
struct detect_line {
	size_t number; /* from 1: where it begins */
	char *text;    /* without indentation and trailing blanks; a very long one is cut */
	char *code;    /* the same, with comments and the contents of strings blanked, at the same
			  positions */
	char *shape;   /* the code with all literals replaced by 0, and without blanks */
	char *key;     /* equal for statements that differ only in their format; never cut there */
	size_t indent;
	bool row; /* an element of a list of rows */

	/* Set by detect_tests_find(). */
	bool asserts;
	bool weak;    /* the assertion that begins here accepts nearly everything */
	bool part;    /* goes on with the assertion, or the expected value, before it */
	bool expects; /* may hold what a test expects */
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

/* Prepares an empty list for a text of this size. */
void detect_lines_init(struct detect_lines *lines, size_t size);

/* A text, and the same text with comments and the contents of strings blanked, at the same
 * positions; both with blanks for NUL bytes. */
struct detect_source {
	char *text, *code;
	size_t size;
};

/* Returns false if the text has no lines. */
bool detect_lines_source(const struct detect_text *text, enum detect_language language,
			 struct detect_source *ret_source);
void detect_lines_source_release(struct detect_source *source);

/* Returns the shape of code. The caller frees it. */
char *detect_lines_shape(const char *code);

/* Compares shapes without the mark at the end of a statement. */
bool detect_lines_same_shape(const char *one, const char *other);

/* Takes the steps of looking at a line once more. Returns false if there are none left: code that
 * people write needs a small part of them. */
bool detect_lines_step(struct detect_lines *lines, size_t line);

/* Returns the index of the line after the block that begins at line `from`: by braces or brackets,
 * by `end`, or by indentation, as the language does. It is cut if there are no steps left. */
size_t detect_lines_block(struct detect_lines *lines, enum detect_language language, size_t from);

#endif
