/* The tests of a source file, and their assertions. */
#ifndef DETECT_DETECT_TESTS_H
#define DETECT_DETECT_TESTS_H

#include "detect/detect_lines.h"

#include <stdbool.h>

struct detect_test {
	char *name;
	size_t first, end;       /* its statements, with the attributes above it */
	size_t declared;         /* the statement that has its name */
	size_t assertions, weak; /* weak ones accept nearly everything */
	bool matched;            /* a caller has found its counterpart */
};

struct detect_tests {
	struct detect_test *items;
	size_t count;
};

void detect_tests_find(struct detect_lines *lines, enum detect_language language,
		       struct detect_tests *ret_tests);
void detect_tests_release(struct detect_tests *tests);

/* A statement asserts something; a trivial assertion cannot fail. */
bool detect_tests_asserts(const struct detect_line *line, enum detect_language language);
bool detect_tests_is_trivial(const struct detect_line *line, enum detect_language language);

#endif
