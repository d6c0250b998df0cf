/* Test counts in the output of a check: see check_output.h. */
#include "decision/check_output.h"

#include "decision/check_summary.h"
#include "decision/lines.h"

#include <string.h>

enum { LINE_MAX_BYTES = 501 };

/* The sources of counts, most reliable first. */
enum level { SUMS, TESTS, FILES, LEVELS };

struct reading {
	bool empty; /* a tool reported that there was nothing to run */
	bool ran;   /* something ran that cannot be counted */
	bool summary;
	struct {
		bool seen;
		int64_t passed, failed;
	} levels[LEVELS];
};

/* The counts in one line. */
struct numbers {
	int64_t passed, failed, skipped, total;
	bool has_outcome, has_passed, has_total, has_failures, has_skipped;
};

static const char *skip_spaces(const char *at)
{
	return at + strspn(at, " ");
}

static void record(struct reading *reading, enum level level, int64_t passed, int64_t failed)
{
	reading->levels[level].seen = true;
	reading->levels[level].passed = lines_add(reading->levels[level].passed, passed);
	reading->levels[level].failed = lines_add(reading->levels[level].failed, failed);
}

/* Records a total. A total without passed or failed tests means that nothing ran. */
static void record_numbers(struct reading *reading, enum level level, const struct numbers *n)
{
	int64_t passed = n->passed;

	if (!n->has_passed && n->has_total)
		passed = n->total - lines_add(n->failed, n->skipped);
	passed = passed > 0 ? passed : 0;
	reading->empty |= passed == 0 && n->failed == 0;
	record(reading, level, passed, n->failed);
}

/* Stores a count under the word that a tool uses for it. Returns whether the word is known. */
static bool store_count(struct numbers *n, const char *word, size_t size, int64_t count)
{
	static const struct {
		const char *word;
		char kind;
	} words[] = {
		{ "passed", 'p' },   { "passing", 'p' },      { "pass", 'p' },
		{ "ok", 'p' },       { "failed", 'f' },       { "failing", 'f' },
		{ "fail", 'f' },     { "failure", 'e' },      { "failures", 'e' },
		{ "error", 'e' },    { "errors", 'e' },       { "tests", 't' },
		{ "test", 't' },     { "total", 't' },        { "examples", 't' },
		{ "example", 't' },  { "runs", 't' },         { "specs", 't' },
		{ "skipped", 's' },  { "skip", 's' },         { "skips", 's' },
		{ "pending", 's' },  { "ignored", 's' },      { "deselected", 's' },
		{ "todo", 's' },     { "incomplete", 's' },   { "risky", '-' },
		{ "xfailed", 'p' },  { "xpassed", 'p' },      { "warnings", '-' },
		{ "warning", '-' },  { "assertions", '-' },   { "assertion", '-' },
		{ "measured", '-' }, { "filtered", '-' },     { "flaky", 'p' },
		{ "leaky", '-' },    { "slow", '-' },         { "rerun", '-' },
		{ "reruns", '-' },   { "unexpected", '-' },   { "cancelled", '-' },
		{ "subtests", '-' }, { "omissions", '-' },    { "notifications", '-' },
		{ "pendings", '-' }, { "deprecations", '-' },
	};
	char kind = '\0';

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strlen(words[i].word) == size && lines_begins(word, words[i].word))
			kind = words[i].kind;
	if (kind == 'p') {
		n->passed = lines_add(n->passed, count);
		n->has_passed = n->has_outcome = true;
	} else if (kind == 'f' || kind == 'e') {
		n->failed = lines_add(n->failed, count);
		n->has_outcome |= kind == 'f';
		n->has_failures = true;
	} else if (kind == 't') {
		n->total = count;
		n->has_total = true;
	} else if (kind == 's') {
		n->skipped = lines_add(n->skipped, count);
		n->has_skipped = true;
	}
	return kind != '\0';
}

static size_t word_size(const char *at)
{
	size_t size = 0;

	while (lines_letter(at[size]))
		size++;
	return size;
}

/* Can a total end here? "in 0.1s", "(5 ms)", "=====", a full stop. */
static bool can_end(const char *at)
{
	return *at == '\0' || *at == '(' || *at == '=' || *at == '.' || *at == '[' || *at == ')' ||
	       lines_begins(at, "in ") || lines_begins(at, "out of ") ||
	       lines_begins(at, "across ") || lines_begins(at, "finished ") ||
	       lines_begins(at, "listed ");
}

/* "3 passed, 1 failed in 0.2s". Returns whether the whole line is such a list. */
static bool read_list(const char *at, struct numbers *n)
{
	for (int items = 0; items < 16; items++) {
		int64_t count = 0;
		const char *word = lines_number(at, &count);

		if (word == at)
			return false;
		word = skip_spaces(word);

		size_t size = word_size(word);

		if (!store_count(n, word, size, count))
			return false;
		at = skip_spaces(word + size);
		if (lines_begins(at, "out") && n->has_outcome)
			at = skip_spaces(at + 3); /* filtered out */
		if (lines_begins(at, "completed") || lines_begins(at, "run:"))
			at = skip_spaces(at + (*at == 'c' ? 9 : 3));
		if (*at != '\0' && strchr(",;|:", *at)) {
			at = skip_spaces(at + 1);
			if (lines_begins(at, "with "))
				at = skip_spaces(at + 5);
			if (!lines_digit(*at))
				return can_end(at);
		} else if (can_end(at)) {
			return true;
		}
	}
	return true;
}

/* "Tests run: 3, Failures: 0, Errors: 0". Returns the number of pairs. */
static int read_pairs(const char *at, struct numbers *n)
{
	int pairs = 0;

	for (; pairs < 16; pairs++) {
		const char *word = at;
		size_t size = word_size(word);
		int64_t count = 0;

		if (lines_begins(word, "tests run") || lines_begins(word, "total tests")) {
			word = "tests";
			at += lines_begins(at, "tests run") ? 9 : 11;
			size = 5;
		} else {
			at += size;
		}
		if (size == 0 || *at != ':')
			break;
		at = skip_spaces(at + 1);

		const char *end = lines_number(at, &count);

		if (end == at || (*end && !strchr(",. ", *end)) || lines_letter(*skip_spaces(end)))
			break;
		if (!store_count(n, word, size, count))
			break;
		at = skip_spaces(end + strspn(end, ",."));
	}
	return pairs;
}

/*
 * "0 tests", "0 tests run.", "no tests!": the words of unknown runners. "0 tests failed" does not
 * count.
 */
static bool reports_none(const char *line)
{
	static const char *const begins[] = { "0 tests", "0 test", "no tests" };
	static const char *const verbs[] = { "run", "ran", "executed", "found", "passed" };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
		const char *rest = line + strlen(begins[i]);

		if (!lines_begins(line, begins[i]))
			continue;
		if (!*skip_spaces(rest + strspn(rest, ".!")))
			return true;
		for (size_t j = 0; *rest == ' ' && j < sizeof verbs / sizeof *verbs; j++)
			if (lines_begins(rest + 1, verbs[j]) &&
			    !lines_letter(rest[1 + strlen(verbs[j])]))
				return true;
	}
	return false;
}

/* Phrases with which known tools report that there was nothing to run. */
static bool reports_empty(const char *line)
{
	static const char *const phrases[] = {
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

	for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
		if (lines_find(line, phrases[i]))
			return true;
	if (reports_none(line))
		return true;
	return lines_begins(line, "1..0") && !lines_digit(line[4]) && line[4] != '.';
}

/* Skips marks and labels in front of a total. *ret_labelled: the line is marked as a total. */
static const char *skip_label(const char *line, bool *ret_labelled)
{
	static const char *const labels[] = {
		"[info]",    "[error]", "[warning]", "test result: ok.", "test result: failed.",
		"tests:",    "tests ",  "ok |",      "failed |",         "ok (",
		"executed ", "done ",   "passed!",   "failed!",          "skipped!",
	};
	const char *before;

	*ret_labelled = false;
	do {
		before = line;
		*ret_labelled |= *line == '=';
		line += strspn(line, " =-#");
		if (strncmp(line, "\xe2\x84\xb9", 3) == 0)
			line += 3; /* the information mark of node */
		for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
			if (!lines_begins(line, labels[i]))
				continue;
			if (lines_begins(line, "tests run"))
				continue; /* the first word of a pair */
			*ret_labelled |= i > 2;
			line += strlen(labels[i]);
		}
		if (lines_begins(line, "summary [") && strchr(line, ']')) {
			*ret_labelled = true;
			line = strchr(line, ']') + 1;
		}
	} while (line != before);
	return line;
}

/* Reads a total: a list of numbers and words, or of words and numbers. */
static bool read_sum(struct reading *reading, const char *line)
{
	struct numbers pairs = { 0 };
	struct numbers list = { 0 };
	bool labelled = false;
	const char *at = skip_label(line, &labelled);
	const char *tests = lines_begins(skip_spaces(line), "tests:") ? skip_spaces(line) : at;
	int count = read_pairs(tests, &pairs);

	if (count > 1 && (pairs.has_total || pairs.has_passed)) {
		record_numbers(reading, lines_find(tests, "time elapsed") ? TESTS : SUMS, &pairs);
		return true;
	}
	if (count == 1) {
		/* With one number per line a zero means nothing, except for the total. */
		if (pairs.has_total && !pairs.has_outcome)
			reading->empty |= pairs.total == 0;
		else
			record(reading, SUMS, pairs.passed, pairs.failed);
		return true;
	}
	if (!read_list(at, &list))
		return false;
	if (!list.has_outcome && !(list.has_total && (list.has_failures || labelled)) &&
	    !(labelled && list.has_skipped))
		return false;
	record_numbers(reading, SUMS, &list);
	return true;
}

/* Returns the number after a word and an equals sign, or 0. */
static int64_t value_of(const char *line, const char *word)
{
	const char *at = lines_find(line, word);
	int64_t number = 0;

	if (at)
		lines_number(at + strlen(word), &number);
	return number;
}

/* unittest: "Ran 5 tests in 0.1s", later "FAILED (failures=1, errors=1)" or "OK (skipped=2)". */
static bool read_unittest(struct reading *reading, const char *line)
{
	int64_t number = 0;

	if (lines_begins(line, "ran ") && lines_digit(line[4])) {
		const char *end = lines_number(line + 4, &number);

		if (!lines_begins(end, " tests in ") && !lines_begins(end, " test in "))
			return false;
		reading->empty |= number == 0;
		record(reading, SUMS, number, 0);
		return true;
	}
	if (!lines_begins(line, "failed (") && !lines_begins(line, "ok (skipped="))
		return false;

	int64_t failed = lines_add(value_of(line, "failures="), value_of(line, "errors="));
	int64_t skipped = value_of(line, "skipped=");

	if (lines_add(failed, skipped) > reading->levels[SUMS].passed)
		return false;
	record(reading, SUMS, -lines_add(failed, skipped), failed);
	reading->empty |= reading->levels[SUMS].passed == 0 && reading->levels[SUMS].failed == 0;
	return true;
}

/* node: "# pass 3". ctest: "50% tests passed, 1 tests failed out of 2". googletest. zig. */
static bool read_odd_sum(struct reading *reading, const char *line)
{
	int64_t first = 0;
	int64_t second = 0;
	bool labelled;
	const char *at = skip_label(line, &labelled);
	const char *found;

	if ((found = lines_find(line, "% tests passed, "))) {
		lines_number(found + 16, &first);
		found = lines_find(found, "failed out of ");
		if (!found)
			return false;
		lines_number(found + 14, &second);
		reading->empty |= second == 0;
		record(reading, SUMS, second > first ? second - first : 0, first);
		return true;
	}
	if (lines_begins(line, "[  passed  ] ") || lines_begins(line, "[  failed  ] ")) {
		if (lines_number(line + 13, &first) == line + 13)
			return false;
		record(reading, SUMS, line[3] == 'P' ? first : 0, line[3] == 'P' ? 0 : first);
		return true;
	}
	if (lines_begins(line, "all ") && lines_find(line, " tests passed")) {
		lines_number(line + 4, &first);
		record(reading, SUMS, first, 0);
		return true;
	}
	if (lines_begins(at, "pass ") && lines_number(at + 5, &first) > at + 5)
		record(reading, SUMS, first, 0);
	else if (lines_begins(at, "fail ") && lines_number(at + 5, &first) > at + 5)
		record(reading, SUMS, 0, first);
	else if ((line[0] == '#' || strncmp(line, "\xe2\x84\xb9", 3) == 0) &&
		 lines_find(line, " tests 0") && !lines_digit(lines_find(line, " tests 0")[8]))
		reading->empty = true;
	else
		return false;
	return true;
}

/* TAP, unindented: "ok 1 - sentence". go: "--- PASS: TestX (0.00s)". */
static bool read_test(struct reading *reading, const char *line)
{
	bool bad = strncmp(line, "not ok", 6) == 0;
	const char *at = bad ? line + 6 : line + 2;

	if (strncmp(line, "--- PASS: ", 10) == 0 || strncmp(line, "--- FAIL: ", 10) == 0) {
		record(reading, TESTS, line[4] == 'P', line[4] == 'F');
		return true;
	}
	if (!bad && strncmp(line, "ok", 2) != 0)
		return false;
	if (at[0] != ' ' || (!lines_digit(at[1]) && strncmp(at, " - ", 3) != 0))
		return false;
	if (lines_find(at, "# skip"))
		record(reading, TESTS, 0, 0);
	else
		record(reading, TESTS, !bad, bad);
	return true;
}

/* gradle prints the name of each task; a suffix marks tasks that did not run. */
static bool read_gradle(struct reading *reading, const char *line)
{
	const char *name = line + 8;
	size_t size;

	if (strncmp(line, "> Task :", 8) != 0)
		return false;
	size = strcspn(name, " ");
	while (memchr(name, ':', size)) {
		const char *next = memchr(name, ':', size);

		size -= (size_t)(next + 1 - name);
		name = next + 1;
	}
	if (size < 4 ||
	    (strncmp(name + size - 4, "test", 4) != 0 && strncmp(name + size - 4, "Test", 4) != 0))
		return false;
	if (lines_find(name, "no-source"))
		reading->empty = true;
	else
		reading->ran = true;
	return true;
}

/* A package of go, a file of jest. */
static void read_file(struct reading *reading, const char *line)
{
	if (strncmp(line, "ok  ", 4) == 0 &&
	    (lines_find(line, "(cached)") || line[strlen(line) - 1] == 's' ||
	     lines_find(line, "% of statements")))
		record(reading, FILES, 1, 0);
	else if (strncmp(line, "PASS ", 5) == 0)
		record(reading, FILES, 1, 0);
	else if (strncmp(line, "FAIL ", 5) == 0)
		record(reading, FILES, 0, 1);
}

static void read_line(struct reading *reading, const char *line)
{
	const char *trimmed = skip_spaces(line);

	reading->summary |= check_summary_is(trimmed);
	if (reports_empty(trimmed))
		reading->empty = true;
	else if (!read_gradle(reading, trimmed) && !read_test(reading, line) &&
		 !read_unittest(reading, trimmed) && !read_odd_sum(reading, trimmed) &&
		 !read_sum(reading, trimmed))
		read_file(reading, trimmed);
}

void check_output_read(const char *output, size_t size, struct check_output *ret_check)
{
	const char *at = output;
	struct reading reading = { 0 };
	struct check_output check = { 0 };
	struct lines_line raw;
	char line[LINE_MAX_BYTES];

	while (lines_next(&at, output + size, &raw)) {
		raw.size = raw.size < 4 * LINE_MAX_BYTES ? raw.size : 4 * LINE_MAX_BYTES;
		if (lines_clean(&raw, line, sizeof line, NULL) > 0)
			read_line(&reading, line);
	}
	for (int level = 0; level < LEVELS; level++) {
		int64_t passed = reading.levels[level].passed;
		int64_t failed = reading.levels[level].failed;

		reading.ran |= passed > 0 || failed > 0;
		if (check.counted || !reading.levels[level].seen)
			continue;
		check.counted = true;
		check.passed = passed > 0 ? passed : 0;
		check.failed = failed;
	}
	check.vacuous = reading.empty && !reading.ran;
	check.summary = reading.summary;
	check.total = reading.levels[SUMS].seen ? lines_add(check.passed, check.failed) : -1;
	*ret_check = check;
}
