/* Test counts in the output of checks: did anything run, and how much passed? */
#include "unit.h"

#include "decision/check_output.h"
#include "decision/check_summary.h"
#include "decision/failed_tests.h"

#include "util/buffer.h"
#include "util/mem.h"

#include <string.h>

enum { UNKNOWN = -1 };

struct sample {
	const char *name;
	const char *output;
	int64_t passed; /* or UNKNOWN */
	int64_t failed;
};

static const struct sample nothing[] = {
	{ "a script's own words", "0 tests\n", UNKNOWN, 0 },
	{ "a script's own sentence", "loading\n  0 tests run.\n", UNKNOWN, 0 },
	{ "a script's own word for nothing", "No tests!\n", UNKNOWN, 0 },
	{ "jest without tests", "No tests found, exiting with code 0\n", UNKNOWN, 0 },
	{ "jest without tests for a change",
	  "No tests found related to files changed since last commit.\nPress `a` to run all tests.\n",
	  UNKNOWN, 0 },
	{ "jest with everything skipped",
	  "\nTest Suites: 1 skipped, 0 of 1 total\nTests:       2 skipped, 2 total\n"
	  "Snapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n",
	  0, 0 },
	{ "jest with an empty sum", "Tests:       0 total\n", 0, 0 },
	{ "vitest without files",
	  "\n RUN  v1.6.0 /app\n\ninclude: **/*.test.ts\nNo test files found, exiting with code 0\n",
	  UNKNOWN, 0 },
	{ "vitest with an empty file",
	  " Test Files  1 passed (1)\n      Tests  no tests\n   Start at  10:00:00\n", UNKNOWN, 0 },
	{ "mocha without tests", "\n\n  0 passing (1ms)\n\n", 0, 0 },
	{ "mocha with colours",
	  "\n\033[92m \033[0m\033[32m 0 passing\033[0m\033[90m (2ms)\033[0m\n", 0, 0 },
	{ "playwright without tests", "Error: No tests found\n", UNKNOWN, 0 },
	{ "node without tests",
	  "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n", 0,
	  0 },
	{ "node's spec reporter without tests",
	  "ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\nℹ duration_ms 3.1\n", 0, 0 },
	{ "bun without tests",
	  "bun test v1.1.0\n\n 0 pass\n 0 fail\nRan 0 tests across 0 files. [5.00ms]\n", 0, 0 },
	{ "deno without tests", "\nok | 0 passed | 0 failed (1ms)\n", 0, 0 },
	{ "npm without a test", "> echo \"Error: no test specified\"\n\nError: no test specified\n",
	  UNKNOWN, 0 },
	{ "pytest without items",
	  "===== test session starts =====\nplatform linux\ncollected 0 items\n\n"
	  "===== no tests ran in 0.01s =====\n",
	  UNKNOWN, 0 },
	{ "pytest -q without items", "\nno tests ran in 0.00s\n", UNKNOWN, 0 },
	{ "pytest with everything deselected",
	  "collected 5 items / 5 deselected / 0 selected\n\n===== 5 deselected in 0.01s =====\n", 0,
	  0 },
	{ "pytest with everything skipped",
	  "collected 2 items\n\ntest_a.py ss   [100%]\n\n===== 2 skipped in 0.01s =====\n", 0, 0 },
	{ "unittest without tests",
	  "\n----------------------------------------------------------------------\n"
	  "Ran 0 tests in 0.000s\n\nOK\n",
	  UNKNOWN, 0 },
	{ "unittest of 3.12 without tests", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", UNKNOWN, 0 },
	{ "unittest with everything skipped", "ss\n---\nRan 2 tests in 0.000s\n\nOK (skipped=2)\n",
	  0, 0 },
	{ "django without tests",
	  "Found 0 test(s).\nSystem check identified no issues (0 silenced).\n\nRan 0 tests in 0.000s\n\nOK\n",
	  UNKNOWN, 0 },
	{ "cargo with empty sections only",
	  "     Running unittests src/lib.rs\n\nrunning 0 tests\n\n"
	  "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
	  "\n   Doc-tests x\n\nrunning 0 tests\n\n"
	  "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
	  0, 0 },
	{ "cargo with a filter that matches nothing",
	  "running 0 tests\n\n"
	  "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out; finished in 0.00s\n",
	  0, 0 },
	{ "nextest without tests",
	  "    Starting 0 tests across 0 binaries\n     Summary [   0.001s] 0 tests run: 0 passed, 0 skipped\n",
	  0, 0 },
	{ "go without test files",
	  "?   \tgithub.com/a/b\t[no test files]\n?   \tgithub.com/a/b/c\t[no test files]\n",
	  UNKNOWN, 0 },
	{ "go with a pattern that matches nothing",
	  "testing: warning: no tests to run\nPASS\nok  \tgithub.com/a/b\t0.002s [no tests to run]\n",
	  UNKNOWN, 0 },
	{ "gotestsum without tests", "∅  a/b\n\nDONE 0 tests in 0.201s\n", 0, 0 },
	{ "ctest without tests", "Test project build\nNo tests were found!!!\n", UNKNOWN, 0 },
	{ "ctest with a sum of nothing", "100% tests passed, 0 tests failed out of 0\n", 0, 0 },
	{ "meson without tests", "ninja: no work to do.\nNo tests defined.\n", UNKNOWN, 0 },
	{ "googletest with a filter",
	  "[==========] Running 0 tests from 0 test suites.\n"
	  "[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n",
	  0, 0 },
	{ "maven without tests",
	  "[INFO] Results:\n[INFO] \n[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n",
	  0, 0 },
	{ "maven without a test folder", "[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n", UNKNOWN,
	  0 },
	{ "gradle without sources",
	  "> Task :compileTestJava NO-SOURCE\n> Task :testClasses UP-TO-DATE\n> Task :test NO-SOURCE\n"
	  "\nBUILD SUCCESSFUL in 1s\n",
	  UNKNOWN, 0 },
	{ "an empty TAP plan", "TAP version 13\n1..0 # SKIP no database\n", UNKNOWN, 0 },
	{ "rspec without examples",
	  "No examples found.\n\nFinished in 0.0003 seconds\n0 examples, 0 failures\n", 0, 0 },
	{ "minitest without runs", "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n", 0, 0 },
	{ "phpunit without tests", "PHPUnit 10.5.1 by Sebastian Bergmann.\n\nNo tests executed!\n",
	  UNKNOWN, 0 },
	{ "pest without tests", "\n   INFO  No tests found.\n", UNKNOWN, 0 },
	{ "dotnet without tests",
	  "No test is available in /app/t.dll. Make sure that test discoverer is registered.\n",
	  UNKNOWN, 0 },
	{ "dotnet with a filter", "No test matches the given testcase filter `X` in /app/t.dll\n",
	  UNKNOWN, 0 },
	{ "dotnet with a total of nothing", "Test Run Successful.\nTotal tests: 0\n", UNKNOWN, 0 },
	{ "swift without tests",
	  "\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds\n", 0, 0 },
	{ "zig without tests", "All 0 tests passed.\n", UNKNOWN, 0 },
	{ "our own sum of nothing", "0 passed, 0 failed\n", 0, 0 },
	{ "a sum of nothing with CRLF", "0 passed, 0 failed\r\n", 0, 0 },
	{ "a sum of nothing without an end of line", "0 passed, 0 failed", 0, 0 },
};

static const struct sample something[] = {
	{ "jest",
	  "PASS src/a.test.js\nFAIL src/b.test.js\n\nTest Suites: 1 failed, 1 passed, 2 total\n"
	  "Tests:       1 failed, 2 skipped, 3 passed, 6 total\nSnapshots:   0 total\n",
	  3, 1 },
	{ "jest in two workspaces, one of them empty",
	  "No tests found, exiting with code 0\n\nTests:       3 passed, 3 total\n", 3, 0 },
	{ "jest that was cut off before the sum", "PASS src/a.test.js\nPASS src/b.test.js\n", 2,
	  0 },
	{ "vitest",
	  " ✓ src/a.test.ts (2 tests) 3ms\n\n Test Files  2 passed (2)\n      Tests  1 failed | 2 passed (3)\n",
	  2, 1 },
	{ "vitest in colours",
	  "\033[2m      Tests \033[22m \033[1m\033[32m3 passed\033[39m\033[22m\033[90m (3)\033[39m\n",
	  3, 0 },
	{ "mocha", "\n  12 passing (30ms)\n  1 pending\n  2 failing\n\n  1) x\n", 12, 2 },
	{ "playwright",
	  "Running 4 tests using 2 workers\n\n  1 failed\n    a.spec.ts:3:1\n  3 passed (2.1s)\n",
	  3, 1 },
	{ "node", "ok 1 - a\nok 2 - b\n1..2\n# tests 2\n# suites 0\n# pass 2\n# fail 0\n", 2, 0 },
	{ "bun", " 3 pass\n 1 fail\n 4 expect() calls\nRan 4 tests across 1 file. [12.00ms]\n", 3,
	  1 },
	{ "deno", "ok | 3 passed | 0 failed (5ms)\n", 3, 0 },
	{ "pytest", "collected 4 items\n\n===== 1 failed, 3 passed, 2 warnings in 0.12s =====\n", 3,
	  1 },
	{ "pytest -q", "....\n4 passed in 0.12s\n", 4, 0 },
	{ "pytest with errors", "===== 3 passed, 1 error in 0.12s =====\n", 3, 1 },
	{ "pytest with expected failures only", "===== 2 xfailed in 0.12s =====\n", 2, 0 },
	{ "pytest twice, once with nothing",
	  "collected 0 items\n\n=== no tests ran in 0.01s ===\ncollected 1 item\n\n=== 1 passed in 0.01s ===\n",
	  1, 0 },
	{ "unittest", "..\n-----\nRan 5 tests in 0.001s\n\nOK\n", 5, 0 },
	{ "unittest with failures",
	  "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", 2, 2 },
	{ "unittest with one test", "Ran 1 test in 0.001s\n\nOK\n", 1, 0 },
	{ "cargo with an empty section",
	  "running 2 tests\ntest a ... ok\ntest b ... ok\n\n"
	  "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
	  "   Doc-tests x\n\nrunning 0 tests\n\n"
	  "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
	  2, 0 },
	{ "cargo with a failure",
	  "test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n",
	  4, 1 },
	{ "nextest",
	  "    Starting 4 tests across 2 binaries\n     Summary [   0.105s] 4 tests run: 3 passed, 1 failed, 0 skipped\n",
	  3, 1 },
	{ "go with one package without tests",
	  "?   \ta/cmd\t[no test files]\nok  \ta/lib\t0.012s\nFAIL\ta/net\t0.300s\nFAIL\n", 1, 1 },
	{ "go from the cache", "ok  \ta/lib\t(cached)\n?   \ta\t[no test files]\n", 1, 0 },
	{ "go with coverage", "ok  \ta/lib\t0.1s\tcoverage: 81.0% of statements\n", 1, 0 },
	{ "go -v",
	  "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\n=== RUN   TestB\n"
	  "--- FAIL: TestB (0.01s)\nFAIL\nFAIL\ta\t0.02s\n",
	  1, 1 },
	{ "go -v that was cut off", "--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\n", 2, 0 },
	{ "go -v with a failure", "--- FAIL: TestA (0.00s)\n", 0, 1 },
	{ "gotestsum", "DONE 12 tests, 1 failure in 0.501s\n", 11, 1 },
	{ "ctest",
	  "67% tests passed, 1 tests failed out of 3\n\nTotal Test time (real) =   0.01 sec\n", 2,
	  1 },
	{ "meson", "Ok:                 3   \nExpected Fail:      0   \nFail:               1   \n",
	  3, 1 },
	{ "googletest",
	  "[==========] Running 3 tests from 1 test suite.\n[  PASSED  ] 2 tests.\n"
	  "[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.b\n",
	  2, 1 },
	{ "maven",
	  "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s - in a.B\n"
	  "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.C\n"
	  "[INFO] Results:\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n",
	  1, 1 },
	{ "maven with one empty module",
	  "[INFO] No tests to run.\n[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1\n", 3,
	  0 },
	{ "gradle with one empty module",
	  "> Task :a:test NO-SOURCE\n> Task :b:test\n\nBUILD SUCCESSFUL in 3s\n", UNKNOWN, 0 },
	{ "gradle with failures", "> Task :test FAILED\n\n5 tests completed, 1 failed\n", 4, 1 },
	{ "gradle that knew already",
	  "> Task :a:test NO-SOURCE\n> Task :b:integrationTest UP-TO-DATE\n", UNKNOWN, 0 },
	{ "TAP", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no network\n", 1, 1 },
	{ "TAP with an empty subtest", "# Subtest: a\n    1..0\nok 1 - a\n1..1\n", 1, 0 },
	{ "TAP without numbers", "ok - a sentence\nnot ok - another\n", 1, 1 },
	{ "rspec", "Finished in 0.01 seconds\n5 examples, 1 failure, 2 pending\n", 2, 1 },
	{ "minitest", "5 runs, 9 assertions, 1 failures, 0 errors, 1 skips\n", 3, 1 },
	{ "phpunit", "OK (3 tests, 5 assertions)\n", 3, 0 },
	{ "phpunit with failures", "FAILURES!\nTests: 3, Assertions: 5, Failures: 1.\n", 2, 1 },
	{ "pest", "  Tests:    1 failed, 2 passed (3 assertions)\n", 2, 1 },
	{ "dotnet",
	  "Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 5 ms - t.dll (net8.0)\n",
	  3, 1 },
	{ "older dotnet", "Total tests: 4\n     Passed: 3\n     Failed: 1\n", 3, 1 },
	{ "dotnet with one empty assembly",
	  "No test is available in /a.dll.\nPassed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3\n",
	  3, 0 },
	{ "swift", "\t Executed 5 tests, with 1 failure (0 unexpected) in 0.010 (0.012) seconds\n",
	  4, 1 },
	{ "zig", "All 3 tests passed.\n", 3, 0 },
	{ "our own sum", "271 passed, 2 failed, 1 skipped in 40 s\n", 271, 2 },
	{ "no output", "", UNKNOWN, 0 },
	{ "a linter", "All checks passed!\n0 errors, 0 warnings\n", UNKNOWN, 0 },
	{ "a compiler", "3 errors generated.\n", UNKNOWN, 0 },
	{ "eslint", "✖ 3 problems (1 error, 2 warnings)\n", UNKNOWN, 0 },
	{ "a sum of failures alone", "0 tests failed\n", UNKNOWN, 0 },
	{ "a sentence about tests", "0 tests need the network\n10 tests\n", UNKNOWN, 0 },
	{ "a log about logins", "3 failed login attempts\n10 tests of the alarm\n", UNKNOWN, 0 },
	{ "a number too large", "99999999999999999999999 passed, 1 failed\n", INT64_MAX, 1 },
};

static void table(const struct sample *samples, size_t count, bool vacuous)
{
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &samples[i];
		AUTO_FREE char *sentence = mem_format("%s: %s", sample->name,
						      vacuous ? "vacuous" : "not vacuous");
		struct check_output check;
		bool counts;

		check_output_read(sample->output, strlen(sample->output), &check);
		counts = sample->passed == UNKNOWN
				 ? !check.counted || (check.passed == 0 && check.failed == 0)
				 : check.counted && check.passed == sample->passed &&
					   check.failed == sample->failed;
		if (!counts)
			printf("# counted %d: %lld passed, %lld failed\n", check.counted,
			       (long long)check.passed, (long long)check.failed);
		CHECK(sentence, check.vacuous == vacuous && counts);
	}
}

/* Each phrase with which a tool reports that there was nothing to run. */
static void phrases(void)
{
	static const char *const all[] = {
		"no tests found",
		"no test files",
		"no test modules found",
		"collected 0 items",
		"no tests ran",
		"found 0 test(s)",
		"ran 0 tests",
		"running 0 tests",
		"no tests to run",
		"no tests were found",
		"no tests executed",
		"no test is available",
		"no test matches",
		"no examples found",
		"no tests defined",
		"no tests collected",
		"no test targets were found",
		"all 0 tests passed",
		"no test specified",
		"tests  no tests",
		"no tests matched",
		"starting 0 tests",
		"no tests selected",
		"no tests were executed",
		"no test source files",
		"no tests exist",
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		AUTO_FREE char *line = mem_format("tool: %s.\n", all[i]);
		AUTO_FREE char *sentence = mem_format("'%s' means that nothing ran", all[i]);
		struct check_output check;

		check_output_read(line, strlen(line), &check);
		CHECK(sentence, check.vacuous);
	}
}

/* Whether a line is counted, with these numbers. */
static bool counts_as(const char *line, int64_t passed, int64_t failed)
{
	struct check_output check;
	bool held;

	check_output_read(line, strlen(line), &check);
	held = check.counted && check.passed == passed && check.failed == failed;
	if (!held)
		printf("# %s\n", line);
	return held;
}

/* Each word that tools use for a count, and the numbers of passed and failed tests in a line with
 * five of these, two that passed and one that failed. */
static void words(void)
{
	static const struct {
		const char *words;
		int64_t passed, failed;
	} kinds[] = {
		{ "passed passing pass ok xfailed xpassed flaky", 7, 1 },
		{ "failed failing fail failure failures error errors", 2, 6 },
		{ "tests test total examples example runs specs skipped skip skips pending ignored "
		  "deselected todo incomplete risky warnings warning assertions assertion measured "
		  "filtered leaky slow rerun reruns unexpected cancelled subtests omissions "
		  "notifications pendings deprecations",
		  2, 1 },
	};
	bool held = true;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (const char *at = kinds[i].words; *at; at += strspn(at, " ")) {
			int size = (int)strcspn(at, " ");
			AUTO_FREE char *line = mem_format("5 %.*s, 2 passed, 1 failed\n", size, at);

			held = counts_as(line, kinds[i].passed, kinds[i].failed) && held;
			at += size;
		}
	CHECK("each word for a count is known", held);
	CHECK("another word is not", !counts_as("5 apples, 2 passed, 1 failed\n", 2, 1));
	CHECK("without a number of passed tests it is the rest of the total",
	      counts_as("5 examples, 1 failed, 1 pending\n", 3, 1) &&
		      counts_as("Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n", 2, 2));
}

/* One number in a line. */
static void single(void)
{
	struct check_output check;

	CHECK("a number of failures alone counts",
	      counts_as("Failures: 2\n", 0, 2) && counts_as("Passed: 3\n", 3, 0));
	check_output_read("Failures: 0\n", 12, &check);
	CHECK("none of them does not mean that nothing ran", !check.vacuous);
	check_output_read("Tests: 0\n", 9, &check);
	CHECK("no tests does", check.vacuous);
}

static void labels(void)
{
	static const char *const all[] = {
		"[info] ",   "[error] ", "[warning] ", "test result: ok. ", "test result: FAILED. ",
		"Tests: ",   "tests ",   "ok | ",      "FAILED | ",         "ok (",
		"Executed ", "done ",    "Passed! ",   "Failed! ",          "Skipped! ",
	};
	bool held = true;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		AUTO_FREE char *line = mem_format("%s2 passed, 1 failed\n", all[i]);

		held = counts_as(line, 2, 1) && held;
	}
	CHECK("each label before a sum is skipped", held);
}

static bool is_vacuous(const char *line)
{
	struct check_output check;

	check_output_read(line, strlen(line), &check);
	return check.vacuous;
}

static void none(void)
{
	static const char *const verbs[] = { "run", "ran", "executed", "found", "passed" };
	bool held = true;

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
		AUTO_FREE char *many = mem_format("0 tests %s\n", verbs[i]);
		AUTO_FREE char *one = mem_format("0 test %s.\n", verbs[i]);
		AUTO_FREE char *other = mem_format("0 tests %sx\n", verbs[i]);

		held = is_vacuous(many) && is_vacuous(one) && !is_vacuous(other) && held;
	}
	CHECK("each verb after '0 tests' means that nothing ran", held);
	CHECK("node's sum of none is found, and others are not",
	      is_vacuous("# tests 0\n") && is_vacuous("\xe2\x84\xb9 tests 0\n") &&
		      !is_vacuous("# tests 01\n") && !is_vacuous("# a comment\n") &&
		      !is_vacuous("the tests 0\n"));
	CHECK("TAP's empty plan is found, and others are not",
	      is_vacuous("1..0\n") && is_vacuous("1..0 # skipped\n") && !is_vacuous("1..01\n") &&
		      !is_vacuous("1..0.5\n"));
}

static void large(void)
{
	enum { SIZE = 10 << 20 };
	AUTO_FREE char *text = mem_alloc(SIZE);
	struct check_output check;

	memset(text, '\n', SIZE);
	memcpy(text + SIZE - 19, "0 passed, 0 failed\n", 19);
	check_output_read(text, SIZE, &check);
	CHECK("the sum at the end of ten megabytes is found", check.vacuous && check.counted);
	memset(text, ' ', SIZE);
	check_output_read(text, SIZE, &check);
	CHECK("a line of ten megabytes is survived", !check.vacuous && !check.counted);
	check_output_read("0 passed\0, 0 failed", 19, &check);
	CHECK("NUL in a line is left out", check.vacuous);
}

/* Lines that runners print at their end, whether tests fail or not. */
static void summaries(void)
{
	static const char *const ends[] = {
		"2 passed in 0.01s",
		"======= 1 failed, 2 passed in 1.20s =======",
		"1 error in 0.05s",
		"no tests ran in 0.01s",
		"Ran 3 tests in 0.001s",
		"# tests 3",
		"\xe2\x84\xb9 tests 3",
		"test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
		"test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
		"Tests:       1 failed, 2 passed, 3 total",
		"Tests  2 passed (2)",
		"3 passing (5ms)",
		"3 examples, 0 failures",
		"3 runs, 3 assertions, 0 failures, 0 errors, 0 skips",
		"100% tests passed, 0 tests failed out of 3",
		"[==========] 3 tests from 1 test suite ran. (0 ms total)",
		"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
		"[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0",
		"[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1",
		"Tests run: 3, Failures: 0",
		"1..3",
		"ok   example.org/calc 0.012s",
		"ok   example.org/calc (cached)",
		"FAIL example.org/calc 0.012s",
		"FAIL example.org/calc [build failed]",
	};
	static const char *const others[] = {
		"1 failed",          "FAIL tax",
		"not ok 1 - tax",    "0 tests",
		"ran out of memory", "3 passed",
		"built in 0.01s",    "passed in time",
		"3 errors in 2 s",   "tests are in a folder",
		"ok   then",         "",
	};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		AUTO_FREE char *sentence = mem_format("a summary: %s", ends[i]);

		CHECK(sentence, check_summary_is(ends[i]));
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		AUTO_FREE char *sentence = mem_format("not a summary: %s", others[i]);

		CHECK(sentence, !check_summary_is(others[i]));
	}
}

static void commands(void)
{
	static const char *const always[] = {
		"pytest",
		".venv/bin/pytest -q",
		"python3 -B -m pytest -q -p x",
		"py.test -x",
		"A=1 env B=2 pytest",
		"python -m unittest",
		"python3 -m unittest discover -s tests",
		"python -m pytest",
		"node --test test",
		"cargo test --all",
		"go test ./...",
		"make && pytest",
		"cd web; node --test",
	};
	static const char *const never[] = {
		"pytest | tail",
		"pytest >log",
		"pytest -qq",
		"pytest -q -q",
		"pytest --co",
		"pytest -h",
		"node test.js",
		"python3 test.py",
		"cargo build",
		"go vet ./...",
		"go test -json",
		"go test -c",
		"npm test",
		"echo $(pytest)",
		"pytest; echo ok",
		"cargo test --no-run",
		"pytest -p no:terminal",
		"go test -list .",
		"cargo test -- --list",
		"pytest --version",
		"node --test --test-reporter=dot",
		"cargo test -- --format json",
		"",
		"A=1",
		"node --test --watch",
		"pytest --collect-only",
		"pytest --help",
		"x --json pytest",
		"cargo test --message-format short",
		"go test -o x",
		"`pytest`",
	};

	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		AUTO_FREE char *sentence = mem_format("'%s' ends with a summary", always[i]);

		CHECK(sentence, check_summary_expected(always[i]));
	}
	for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
		AUTO_FREE char *sentence = mem_format("'%s' may have no summary", never[i]);

		CHECK(sentence, !check_summary_expected(never[i]));
	}
}

static void totals(void)
{
	static const char with[] = "2 passed, 1 failed in 0.1s\n", without[] = "ok 1 - a\n";
	struct check_output check;

	check_output_read(with, strlen(with), &check);
	CHECK("a total counts the tests that ran", check.total == 3 && check.summary);
	check_output_read(without, strlen(without), &check);
	CHECK("tests that are reported alone have no total", check.total == -1 && !check.summary);
}

/* Whether the names of failed tests in an output, joined, are as expected. */
static bool fails(const char *output, const char *expected)
{
	__attribute__((cleanup(list_release))) struct list names = { 0 };
	AUTO_BUFFER struct buffer all = BUFFER_INIT(1 << 16);

	failed_tests_read(output, strlen(output), &names);
	for (size_t i = 0; i < names.count; i++)
		buffer_printf(&all, "%s%s", i ? "|" : "", names.items[i]);
	if (strcmp(buffer_text(&all), expected) == 0)
		return true;
	fprintf(stderr, "saw '%s', expected '%s'\n", buffer_text(&all), expected);
	return false;
}

static void failed_names(void)
{
	CHECK("node --test names tests, not the groups that they are in",
	      fails("not ok 1 - tax is added\n  ---\n# Subtest: suite\n    ok 1 - fine\n"
		    "    not ok 2 - inner fails\nnot ok 2 - suite\nnot ok 3 - last\n# fail 3\n",
		    "tax is added|inner fails|last"));
	CHECK("tests that need not pass have not failed",
	      fails("not ok 1 - later # TO"
		    "DO write it\nnot ok 2 - x # SKIP\n",
		    ""));
	CHECK("node's other format, with each test twice",
	      fails("\xe2\x96\xb6 suite\n  \xe2\x9c\x96 inner fails (1.5ms)\n"
		    "\xe2\x9c\x96 suite (2ms)\n\xe2\x9c\x96 failing tests:\n\n"
		    "\xe2\x9c\x96 inner fails (1.5ms)\n",
		    "inner fails"));
	CHECK("jest and vitest",
	      fails("  calc\n    \xe2\x9c\x95 adds tax (5 ms)\n    \xe2\x9c\x93 works\n",
		    "adds tax") &&
		      fails("   \xc3\x97 calc > adds tax 5ms\n", "calc > adds tax"));
	CHECK("pytest names files and tests, without reasons",
	      fails("FAILED tests/t.py::test_a - assert 1 == 2\nERROR tests/u.py::test_b\n"
		    "FAILED (failures=1)\n",
		    "tests/t.py::test_a|tests/u.py::test_b"));
	CHECK("unittest",
	      fails("FAIL: test_a (t.T.test_a)\nERROR: test_b (t.T)\nERROR: no such file\n",
		    "test_a (t.T.test_a)|test_b (t.T)"));
	CHECK("go, with subtests",
	      fails("--- FAIL: TestTax (0.01s)\n    --- FAIL: TestTax/zero (0.00s)\nFAIL\n",
		    "TestTax|TestTax/zero"));
	CHECK("cargo", fails("test a::b ... FAILED\ntest c ... ok\ntest result: FAILED. 1 passed\n",
			     "a::b"));
	CHECK("ctest, only in its list",
	      fails("1 - no (here)\nThe following tests FAILED:\n\t  2 - beta (Failed)\n"
		    "\t 13 - a (b) (SEGFAULT)\nErrors while running CTest\n",
		    "beta|a (b)"));
	CHECK("maven names tests, not classes",
	      fails("[ERROR] Tests run: 2, Failures: 1, Time elapsed: 0.1 s <<< FAILURE! -- in a.T\n"
		    "[ERROR] a.T.adds -- Time elapsed: 0.02 s <<< FAILURE!\n"
		    "[ERROR] removes(a.T)  Time elapsed: 0 s  <<< ERROR!\n",
		    "a.T.adds|removes(a.T)"));
	CHECK("other output names nothing",
	      fails("", "") && fails("error: x\n1 failed\nnot ok\n--- FAIL\n[ERROR] no\n", ""));
	CHECK("names are cleaned", fails("not ok 1 - a\x1b[31mb\xff\n", "ab\xef\xbf\xbd"));

	AUTO_BUFFER struct buffer many = BUFFER_INIT(1 << 16);
	__attribute__((cleanup(list_release))) struct list names = { 0 };

	for (int i = 0; i < 2 * FAILED_TESTS_MOST; i++)
		buffer_printf(&many, "not ok %d - test %d\n", i, i);
	failed_tests_read(buffer_text(&many), many.used, &names);
	CHECK("their number has a maximum", names.count == FAILED_TESTS_MOST);
}

int main(void)
{
	failed_names();
	summaries();
	commands();
	totals();
	table(nothing, sizeof nothing / sizeof nothing[0], true);
	table(something, sizeof something / sizeof something[0], false);
	phrases();
	words();
	single();
	labels();
	none();
	large();
	return unit_failures > 0;
}
