/* Signs in single lines: see detect_rules.h. */
#include "detect/detect_rules.h"

#include "detect/detect_match.h"
#include "project/path_group.h"
#include "util/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- added lines ---- */

/* In which files a rule looks. */
enum where {
	IN_TESTS = 1,
	IN_SOURCE = 2, /* code that is not a test */
	IN_SCRIPTS = 4,
	IN_SETTINGS = 8,
	IN_CODE = IN_TESTS | IN_SOURCE,
	IN_CHECKS = IN_TESTS | IN_SCRIPTS | IN_SETTINGS,
};

/* In which form of the line: comments and strings blanked, or complete. */
enum form { CODE, TEXT };

struct rule {
	enum detect_kind kind;
	enum where where;
	enum detect_language language; /* OTHER: any */
	enum form form;
	const char *pattern;
};

static const struct rule rules[] = {
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<it.skip>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<test.skip>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<describe.skip>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<suite.skip>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<context.skip>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<test.fixme>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<@.skipIf~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<@.runIf~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<it.todo>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<test.todo>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<it.failing>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<test.failing>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<it.fails>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<test.fails>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<xit~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<xtest~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<xdescribe~(" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<this.skip~(" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<t.skip~(" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<skip:~true>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<pytest.mark.skip" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<pytest.mark.xfail" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<pytest.skip~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<pytest.xfail~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<pytest.importorskip~(" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<unittest.skip" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<unittest.expectedFailure>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_PYTHON, CODE, "\\@skip>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_PYTHON, CODE, "\\@skipIf>" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_PYTHON, CODE, "<self.skipTest~(" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_PYTHON, CODE, "<SkipTest>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_PYTHON, CODE, "<__test__~=~False>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_PYTHON, CODE, "<pytestmark~=*skip" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_GO, CODE, "<t.Skip" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_GO, CODE, "<b.Skip" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_GO, TEXT, "//go:build " },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_GO, TEXT, "// +build " },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_RUST, CODE, "\\#[ignore" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_RUST, CODE, "\\#[cfg(any())]" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVA, CODE, "\\@Disabled" },
	{ DETECT_TEST_SKIPPED, IN_CODE, DETECT_JAVA, CODE, "\\@Ignore>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_JAVA, CODE, "<assumeTrue~(~false>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_JAVA, CODE, "<enabled~=~false>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_C, CODE, "<GTEST_SKIP>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_C, CODE, "<TEST_IGNORE" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_C, CODE, "DISABLED_" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_C, TEXT, "\"[!mayfail]" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_C, TEXT, "\"[.]" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_C, CODE, "\\#if 0>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_RUBY, CODE, "<xit " },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_RUBY, CODE, "<xdescribe " },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_RUBY, CODE, "<xcontext " },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_RUBY, CODE, "<skip:" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_RUBY, CODE, "<skip>" },
	{ DETECT_TEST_SKIPPED, IN_TESTS, DETECT_RUBY, CODE, "<pending>" },

	{ DETECT_TEST_FOCUSED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<it.only>" },
	{ DETECT_TEST_FOCUSED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<test.only>" },
	{ DETECT_TEST_FOCUSED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<describe.only>" },
	{ DETECT_TEST_FOCUSED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<suite.only>" },
	{ DETECT_TEST_FOCUSED, IN_CODE, DETECT_JAVASCRIPT, CODE, "<context.only>" },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<fit~(" },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<fdescribe~(" },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<only:~true>" },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_RUBY, CODE, "<fit " },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_RUBY, CODE, "<fdescribe " },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_RUBY, CODE, "<focus:~true>" },
	{ DETECT_TEST_FOCUSED, IN_TESTS, DETECT_RUBY, CODE, ":focus>" },

	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "||~true>" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "||~:" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "||~exit 0" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "||~echo>" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "<set +e>" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, ";~true>" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "<continue-on-error:~true>" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "<allow_failure:~true>" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS, DETECT_OTHER, TEXT, "<ignore_errors:~true>" },
	{ DETECT_FAILURE_IGNORED, IN_CHECKS, DETECT_OTHER, TEXT, "--exit-zero>" },
	{ DETECT_FAILURE_IGNORED, IN_CHECKS, DETECT_OTHER, TEXT, "<testFailureIgnore>" },
	{ DETECT_FAILURE_IGNORED, IN_CHECKS, DETECT_OTHER, TEXT, "maven.test.failure.ignore" },
	{ DETECT_FAILURE_IGNORED, IN_CHECKS, DETECT_OTHER, TEXT, "<ignoreFailures~=~true>" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_PYTHON, CODE, "<except AssertionError>" },
	{ DETECT_FAILURE_IGNORED, IN_CODE, DETECT_C, CODE, "\\#define NDEBUG>" },
	{ DETECT_FAILURE_IGNORED, IN_CODE, DETECT_C, CODE, "\\#define assert(" },
	{ DETECT_FAILURE_IGNORED, IN_SCRIPTS | IN_SETTINGS, DETECT_OTHER, TEXT, "-DNDEBUG>" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_JAVA, CODE, "<catch~(~Throwable>" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_JAVA, CODE, "<catch~(~AssertionError>" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_RUBY, CODE, "<rescue Exception>" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_RUBY, CODE, "<rescue RSpec::Expectations" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_RUBY, CODE, "<rescue Minitest::Assertion" },

	{ DETECT_EXIT_FORCED, IN_SCRIPTS, DETECT_OTHER, TEXT, ";~exit 0" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<process.exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_JAVASCRIPT, CODE, "<process.exitCode~=~0>" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_PYTHON, CODE, "<sys.exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_CODE, DETECT_PYTHON, CODE, "<os._exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_CODE, DETECT_PYTHON, CODE, "<exitstatus~=~0>" },
	{ DETECT_EXIT_FORCED, IN_CODE, DETECT_PYTHON, TEXT, "<outcome~=~\"passed\"" },
	{ DETECT_EXIT_FORCED, IN_CODE, DETECT_PYTHON, TEXT, "<outcome~=~'passed'" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_GO, CODE, "<os.Exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_RUST, CODE, "<process::exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_JAVA, CODE, "<System.exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_C, CODE, "<_exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_C, CODE, "<exit~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_RUBY, CODE, "<exit!~(~0~)" },
	{ DETECT_EXIT_FORCED, IN_TESTS, DETECT_RUBY, CODE, "<exit 0>" },

	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "--passWithNoTests>" },
	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "<passWithNoTests*true>" },
	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "<testPathIgnorePatterns>" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS | IN_SETTINGS, DETECT_OTHER, TEXT, "--deselect" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS | IN_SETTINGS, DETECT_OTHER, TEXT, "--ignore=*test" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS | IN_SETTINGS, DETECT_OTHER, TEXT, "-k*not " },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS | IN_SETTINGS, DETECT_OTHER, TEXT, "-m*not " },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS | IN_SETTINGS, DETECT_OTHER, TEXT, "<norecursedirs>" },
	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "<collect_ignore" },
	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "-DskipTests" },
	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "<maven.test.skip" },
	{ DETECT_TESTS_EXCLUDED, IN_CHECKS, DETECT_OTHER, TEXT, "<skipTests>" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS, DETECT_OTHER, TEXT, "--no-verify>" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS, DETECT_OTHER, TEXT, "<-skip=" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS, DETECT_OTHER, TEXT, " --skip " },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS, DETECT_OTHER, TEXT, "--exclude-tag" },
	{ DETECT_TESTS_EXCLUDED, IN_SCRIPTS, DETECT_OTHER, TEXT, "<if:~false>" },
	{ DETECT_TESTS_EXCLUDED, IN_SETTINGS, DETECT_OTHER, TEXT, "<exclude~:*test" },
	{ DETECT_TESTS_EXCLUDED, IN_SETTINGS, DETECT_OTHER, CODE, "<test~=~false>" },

	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, CODE, "<JEST_WORKER_ID>" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, CODE, "<process.env.VITEST" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, CODE, "<import.meta.vitest>" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, TEXT, "<NODE_ENV*=*'test'" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, TEXT, "<NODE_ENV*=*\"test\"" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, TEXT, "'node:assert')*.@~=~" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVASCRIPT, CODE, "<assert.@~=~(" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_PYTHON, CODE, "<TestCase.@~=~" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_PYTHON, CODE, "<TestLoader.@~=~" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_PYTHON, CODE, "<TestResult.@~=~" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_PYTHON, TEXT, "<PYTEST_CURRENT_TEST>" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_PYTHON, TEXT, "pytest*in sys.modules>" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_PYTHON, TEXT, "unittest*in sys.modules>" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_GO, CODE, "<testing.Testing~(" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_GO, TEXT, "<test.v\"" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_GO, TEXT, "\".test\"" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_RUST, CODE, "<cfg!~(~test~)" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_RUST, CODE, "<cfg~(~not~(~test" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVA, TEXT, "org.junit*Class.forName" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_JAVA, TEXT, "Class.forName*junit" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_RUBY, CODE, "<Rails.env.test?" },
	{ DETECT_TEST_AWARE, IN_SOURCE, DETECT_RUBY, CODE, "<defined?~(~RSpec" },

	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "\"off\"" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "'off'" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, ":~off>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<strict@\"~:~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<strict\"~:~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<strict~=~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<no@\"~:~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<checkJs\"~:~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<ignore_errors~=" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<ignore_missing_imports~=" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<disallow_@~=~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<disallow_@~=~False>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<Enabled:~false>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<disable~=" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<extend-ignore~=" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<per-file-ignores" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<disable-all:~true>" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "~=~\"allow\"" },
	{ DETECT_RULE_DISABLED, IN_SETTINGS, DETECT_OTHER, TEXT, "<-Wno-@" },

	{ DETECT_COVERAGE_LOOSENED, IN_SETTINGS, DETECT_OTHER, TEXT,
	  "<coveragePathIgnorePatterns>" },
	{ DETECT_COVERAGE_LOOSENED, IN_SETTINGS, DETECT_OTHER, TEXT, "<omit~=" },
	{ DETECT_COVERAGE_LOOSENED, IN_SETTINGS, DETECT_OTHER, TEXT, "<add_filter>" },

	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "<eslint-disable" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "\\@ts-ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "\\@ts-expect-error" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "\\@ts-nocheck" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "<biome-ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "<istanbul ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "<c8 ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVASCRIPT, TEXT, "<v8 ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<noqa>" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<type:~ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<pyright:~ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<pylint:~disable" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<mypy:~ignore" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<pragma:~no cover" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_PYTHON, TEXT, "<nosec>" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_GO, TEXT, "//nolint" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_RUST, CODE, "\\#[allow(" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_RUST, CODE, "\\#![allow(" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVA, CODE, "\\@SuppressWarnings" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVA, CODE, "\\@Suppress(" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVA, TEXT, "<NOPMD>" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_JAVA, TEXT, "<CHECKSTYLE:OFF" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_C, TEXT, "<NOLINT" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_C, CODE, "<diagnostic ignored>" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_C, TEXT, "<cppcheck-suppress" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_C, TEXT, "<LCOV_EXCL" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_RUBY, TEXT, "<rubocop:~disable" },
	{ DETECT_SUPPRESSION_ADDED, IN_CODE, DETECT_RUBY, TEXT, ":nocov:" },

	{ DETECT_INSTALL_SCRIPT, IN_SETTINGS | IN_SOURCE, DETECT_PYTHON, CODE, "<cmdclass~=" },
	{ DETECT_INSTALL_SCRIPT, IN_SETTINGS, DETECT_OTHER, TEXT, "<build~=~\"build.rs\"" },
};

/* Two statements, one after the other. */
static const struct {
	enum detect_kind kind;
	enum where where;
	enum detect_language language;
	const char *first, *second;
} sequences[] = {
	{ DETECT_EQUALITY_FORCED, IN_CODE, DETECT_PYTHON, "<def __eq__~(", "return True" },
	{ DETECT_EQUALITY_FORCED, IN_CODE, DETECT_PYTHON, "<def __ne__~(", "return False" },
	{ DETECT_EQUALITY_FORCED, IN_CODE, DETECT_JAVA, "<boolean equals~(", "return true;" },
	{ DETECT_EQUALITY_FORCED, IN_CODE, DETECT_RUST, "<fn eq~(", "true" },
	{ DETECT_EQUALITY_FORCED, IN_CODE, DETECT_C, "<operator==~(", "return true;" },
	{ DETECT_EQUALITY_FORCED, IN_CODE, DETECT_RUBY, "<def ==", "true" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_PYTHON, "<except~:", "pass" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_PYTHON, "<except Exception", "pass" },
	{ DETECT_FAILURE_IGNORED, IN_TESTS, DETECT_PYTHON, "<except BaseException", "pass" },
};

static unsigned int place_of(const struct detect_file *file)
{
	bool code = file->language != DETECT_OTHER;

	return (file->test ? IN_TESTS
		: code     ? IN_SOURCE
			   : 0U) |
	       (file->script ? IN_SCRIPTS : 0U) | (file->settings ? IN_SETTINGS : 0U);
}

/* Finds out whether an added line of a script changes what was there before. A command that is new,
 * or a line among new ones, weakens nothing. */
static bool is_attached(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	const char *text = pair->after.items[line].text;
	const char *operator= strpbrk(text, "|;");
	size_t size = operator? (size_t)(operator- text) : 0;

	while (size && text[size - 1] == ' ')
		size--;
	for (size_t i = 0; size && i < pair->before.count && detect_pairs_step(pairs); i++)
		if (strncmp(pair->before.items[i].text, text, size) == 0)
			return true;
	if (size && !pairs->steps)
		return true;
	return !size && ((line > 0 && !pair->added[line - 1]) ||
			 (line + 1 < pair->after.count && !pair->added[line + 1] &&
			  *pair->after.items[line + 1].text));
}

static bool rule_holds(const struct rule *rule, struct detect_pairs *pairs,
		       const struct detect_pair *pair, size_t line)
{
	const struct detect_line *at = &pair->after.items[line];

	if (!(place_of(&pair->is) & rule->where) ||
	    (rule->language != DETECT_OTHER && rule->language != pair->is.language))
		return false;
	return detect_match(rule->pattern, rule->form == TEXT ? at->text : at->code, NULL) &&
	       (rule->where != IN_SCRIPTS || is_attached(pairs, pair, line));
}

/* A comment in a script does nothing. */
static bool is_comment(const struct detect_pair *pair, size_t line)
{
	return pair->is.language == DETECT_OTHER && !*pair->after.items[line].shape;
}

static void look_at_added(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	bool found[DETECT_KIND_COUNT] = { false };

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (found[rules[i].kind] || !rule_holds(&rules[i], pairs, pair, line))
			continue;
		found[rules[i].kind] = true;
		detect_pair_report(pairs, pair, rules[i].kind, false, line);
	}
	if (pair->is.test && detect_tests_is_trivial(&pair->after.items[line], pair->is.language))
		detect_pair_report(pairs, pair, DETECT_ASSERTION_TRIVIAL, false, line);
}

/* Returns the last line of code before one, or SIZE_MAX. */
static size_t code_before(const struct detect_pair *pair, size_t line)
{
	while (line-- > 0)
		if (*pair->after.items[line].shape &&
		    strcmp(pair->after.items[line].shape, "{") != 0)
			return line;
	return SIZE_MAX;
}

static void look_at_sequence(struct detect_pairs *pairs, const struct detect_pair *pair,
			     size_t line)
{
	const struct detect_line *lines = pair->after.items;

	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
		size_t before;

		if (sequences[i].language != pair->is.language ||
		    !(place_of(&pair->is) & sequences[i].where) ||
		    strcmp(lines[line].code, sequences[i].second) != 0)
			continue;
		before = code_before(pair, line);
		if (before != SIZE_MAX &&
		    detect_match(sequences[i].first, lines[before].code, NULL))
			detect_pair_report(pairs, pair, sequences[i].kind, false, before);
	}
}

/* Reports whether a text names a file with tests. */
static bool names_test(const char *text)
{
	static const char between[] = " \t\"',";

	for (text += strspn(text, between); *text; text += strspn(text, between)) {
		size_t size = strcspn(text, between);
		AUTO_FREE char *word = mem_format("%.*s", (int)size, text);

		if (strchr(word, '.') && path_group_is_test(word))
			return true;
		text += size;
	}
	return false;
}

/* A command that got the names of some tests, to run only these. */
static void look_at_chosen(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	enum { LEAST = 4 };
	const char *text = pair->after.items[line].text;

	for (size_t i = 0; pair->is.script && i < pair->before.count && detect_pairs_step(pairs);
	     i++) {
		const char *was = pair->before.items[i].text;
		size_t size = strlen(was);

		while (size && strchr("\"',", was[size - 1]))
			size--;
		if (pair->removed[i] && size >= LEAST && strncmp(text, was, size) == 0 &&
		    text[size] == ' ' && names_test(text + size)) {
			detect_pair_report(pairs, pair, DETECT_TESTS_EXCLUDED, false, line);
			return;
		}
	}
}

/* Statements by which code fails after it has caught an exception. */
static const char *const passes_on[] = { "<throw>",   "<fail~(", "<done~(",
					 "<reject~(", ".fail~(", NULL };

/* An assertion in a block whose handler goes on as if nothing had happened. */
static void look_at_handler(struct detect_pairs *pairs, struct detect_pair *pair, size_t line)
{
	const struct detect_line *lines = pair->after.items;
	bool asserts = false, added = false;
	size_t handler = SIZE_MAX;
	size_t end;

	if (!pair->is.test || detect_match("<try~{", lines[line].code, NULL) != lines[line].code)
		return;
	end = detect_lines_block(&pair->after, pair->is.language, line);
	for (size_t i = line; i < end; i++) {
		bool fails = lines[i].asserts || detect_match_any(passes_on, lines[i].code);

		if (detect_match("}~catch>", lines[i].code, NULL) == lines[i].code)
			handler = i;
		else if (handler != SIZE_MAX && fails)
			return;
		asserts |= handler == SIZE_MAX && lines[i].asserts;
		added |= pair->added[i];
	}
	if (asserts && added && handler != SIZE_MAX)
		detect_pair_report(pairs, pair, DETECT_FAILURE_IGNORED, false, handler);
}

/* Tests of Rust that need more than to be built as tests, and did not before. */
static void look_at_gate(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	if (!detect_match("\\#[cfg~(~all~(~test>", pair->after.items[line].code, NULL))
		return;
	for (size_t i = 0; i < pair->before.count && detect_pairs_step(pairs); i++)
		if (pair->removed[i] &&
		    detect_match("\\#[cfg~(~test~)]", pair->before.items[i].code, NULL)) {
			detect_pair_report(pairs, pair, DETECT_TESTS_EXCLUDED, false, line);
			return;
		}
}

/* ---- numbers ---- */

static const char *const limits[] = {
	"timeout", "Timeout", "TIMEOUT", "deadline", "max_time", NULL
};
static const char *const thresholds[] = {
	"<branches>", "<functions>",  "<lines>",  "<statements>", "<threshold",
	"fail_under", "fail-under",   "<minimum", "<target>",     "coverage",
	"Coverage",   "COVEREDRATIO", NULL,
};

static double last_number(const char *text)
{
	const char *last = NULL;
	bool inside = false;

	for (const char *at = text; *at; at++) {
		bool digit = strchr("0123456789", *at) != NULL;

		if (digit && !inside && (at == text || !detect_match_is_word(at[-1])))
			last = at;
		inside = digit || (inside && (*at == '.' || *at == '_'));
	}
	return last ? strtod(last, NULL) : 0;
}

static void compare_numbers(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	const char *text = pair->after.items[line].text;
	unsigned int place = place_of(&pair->is);
	bool limit = (place & IN_CHECKS) && detect_match_any(limits, text);
	bool threshold = (place & (IN_SETTINGS | IN_SCRIPTS)) && detect_match_any(thresholds, text);
	size_t replaced = limit || threshold ? detect_pair_replaced(pairs, pair, line) : SIZE_MAX;
	double before, after;

	if (replaced == SIZE_MAX)
		return;
	before = last_number(pair->before.items[replaced].text);
	after = last_number(text);
	if (limit && after > before)
		detect_pair_report(pairs, pair, DETECT_TIMEOUT_RAISED, false, line);
	if (threshold && after < before)
		detect_pair_report(pairs, pair, DETECT_COVERAGE_LOOSENED, false, line);
}

/* Lines by which a helper of tests fails. */
static const char *const failing[] = {
	"<exit~(~1", "<abort~(", "<_exit~(~1", "<process.exit~(~1",  "<sys.exit~(~1~)",
	"<raise ",   "<throw ",  "<panic~(",   "\\#define*assert~(", NULL
};

/* A helper of tests that no longer fails. */
static void look_at_helper(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	if (!pair->is.test || !pair->change->after.data || pair->new_tests.count ||
	    !detect_match_any(failing, pair->before.items[line].code))
		return;
	detect_pair_report(pairs, pair, DETECT_ASSERTION_WEAKENED, true, line);
}

/* A threshold that is gone, and has no new value. */
static void look_at_removed(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	const struct detect_line *gone = &pair->before.items[line];

	if (!pair->change->after.data || !pair->is.settings || !strpbrk(gone->text, "0123456789") ||
	    !detect_match_any(thresholds, gone->text))
		return;
	for (size_t i = 0; i < pair->after.count && detect_pairs_step(pairs); i++)
		if (strcmp(pair->after.items[i].shape, gone->shape) == 0)
			return;
	detect_pair_report(pairs, pair, DETECT_COVERAGE_LOOSENED, true, line);
}

/* ---- targets that do nothing ---- */

static const char *const check_targets[] = { "test:",   "tests:", "check:", "lint:",
					     "verify:", "ci:",    NULL };

static bool does_nothing(const char *recipe)
{
	recipe += strspn(recipe, "@-");
	return strcmp(recipe, "true") == 0 || strcmp(recipe, ":") == 0 ||
	       strcmp(recipe, "exit 0") == 0 || strncmp(recipe, "echo ", 5) == 0;
}

static void look_at_recipe(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line)
{
	const struct detect_line *at = &pair->after.items[line];
	bool top = pair->before.count && pair->after.count > pair->before.count &&
		   at->indent == 0 && strcmp(at->text, "exit 0") == 0;

	for (const char *const *each = check_targets; line > 0 && *each; each++)
		top = top || (does_nothing(at->text) &&
			      strncmp(pair->after.items[line - 1].text, *each, strlen(*each)) == 0);
	if (top && pair->is.script)
		detect_pair_report(pairs, pair, DETECT_EXIT_FORCED, false, line);
}

void detect_rules_apply(struct detect_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		struct detect_pair *pair = &pairs->items[i];

		for (size_t line = 0; line < pair->after.count; line++) {
			look_at_handler(pairs, pair, line);
			if (!pair->added[line] || is_comment(pair, line))
				continue;
			look_at_added(pairs, pair, line);
			look_at_sequence(pairs, pair, line);
			look_at_gate(pairs, pair, line);
			look_at_chosen(pairs, pair, line);
			compare_numbers(pairs, pair, line);
			look_at_recipe(pairs, pair, line);
		}
		for (size_t line = 0; line < pair->before.count; line++)
			if (pair->removed[line]) {
				look_at_removed(pairs, pair, line);
				look_at_helper(pairs, pair, line);
			}
	}
}
