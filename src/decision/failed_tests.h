/*
 * The names of the tests that failed, in the output of node, pytest, unittest, jest, vitest, go,
 * cargo, ctest and Maven. The last line of such output is often a count that helps nobody.
 */
#ifndef DECISION_FAILED_TESTS_H
#define DECISION_FAILED_TESTS_H

#include "util/list.h"

#include <stddef.h>

enum { FAILED_TESTS_MOST = 100 };

/* Adds the names, cleaned (lines.h) and each once, up to the maximum. A group whose tests are named
 * is left out. The output is untrusted, and so are the names. */
void failed_tests_read(const char *output, size_t size, struct list *names);

#endif
