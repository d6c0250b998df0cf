/*
 * The summary of a test runner: the line that it prints at its end, whether tests fail or not. A
 * check that exits 0 without the summary of its runner was cut short by what it tests.
 */
#ifndef DECISION_CHECK_SUMMARY_H
#define DECISION_CHECK_SUMMARY_H

#include <stdbool.h>

/* Reports whether a clean line (lines.h), without blanks in front, is such a summary. Words that a
 * user's own script may print only when it fails, such as "1 failed", are not. */
bool check_summary_is(const char *line);

/* Reports whether a command ends with a runner that always prints a summary, where it is seen. */
bool check_summary_expected(const char *command);

#endif
