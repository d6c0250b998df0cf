/*
 * Reads from the output of a check how many tests ran.
 *
 * A check that exits 0 without running anything proves nothing. Its output is vacuous if a known
 * tool reports that there was nothing to run and there is no sign of a test that did run: one empty
 * section among others is normal. Unrecognized output is never vacuous: the exit status decides.
 * The known tools are jest, vitest, mocha, playwright, node, bun, deno, pytest, unittest, cargo,
 * nextest, go, gotestsum, ctest, meson, googletest, gradle, maven, TAP, rspec, minitest, phpunit,
 * pest, dotnet, swift, zig, and anything that prints "3 passed, 1 failed".
 *
 * The counts measure progress from one run to the next; they are not a verdict. Totals that a tool
 * prints are trusted and added up. Without totals, individually reported tests are counted, and
 * without those, packages or files.
 */
#ifndef DECISION_CHECK_OUTPUT_H
#define DECISION_CHECK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_output {
	bool vacuous;
	bool counted; /* the two numbers are valid */
	int64_t passed;
	int64_t failed;
	bool summary;  /* a test runner reached its end (check_summary.h) */
	int64_t total; /* tests that ran, by the totals that tools print; -1 without any */
};

/* Reads the first 500 bytes of every line, in one pass and without allocating. */
void check_output_read(const char *output, size_t size, struct check_output *ret_check);

#endif
