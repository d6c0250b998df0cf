/*
 * What the output of a check says about the tests that ran.
 *
 * A check that ends with 0 and ran nothing proves nothing. Its output is vacuous if it holds a
 * phrase by which a known tool says that there was nothing to run, and no sign of a test that did
 * run: one empty section among others is normal. Output that is not understood is never vacuous:
 * the exit status decides. Known are jest, vitest, mocha, playwright, node, bun, deno, pytest,
 * unittest, cargo, nextest, go, gotestsum, ctest, meson, googletest, gradle, maven, TAP, rspec,
 * minitest, phpunit, pest, dotnet, swift, zig, and any "3 passed, 1 failed".
 *
 * The counts are for progress from one run to the next, not for a verdict. Tools that print a sum
 * are taken at their word, sums are added; else tests named one by one are counted, else packages
 * or files.
 */
#ifndef DECISION_CHECK_OUTPUT_H
#define DECISION_CHECK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_output {
	bool vacuous;
	bool counted; /* the two numbers mean something */
	int64_t passed;
	int64_t failed;
};

/* Reads the first 500 bytes of every line, in one pass and without memory. */
void check_output_read(const char *output, size_t size, struct check_output *ret_check);

#endif
