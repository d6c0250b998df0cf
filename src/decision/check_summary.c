/* Summaries of test runners: see check_summary.h. */
#include "decision/check_summary.h"

#include "decision/lines.h"

#include <string.h>

/* ---- lines ---- */

static bool begins_number(const char *line, const char *begin)
{
	const char *rest = line + strlen(begin);

	return lines_begins(line, begin) && lines_digit(rest[strspn(rest, " ")]);
}

/* "in 0.12s", at the end or before "=====". */
static bool ends_in_seconds(const char *line)
{
	const char *at = lines_find(line, " in ");
	const char *end = at ? at + 4 : line;

	while (lines_digit(*end) || *end == '.')
		end++;
	return at && lines_digit(at[4]) && *end == 's' &&
	       (!end[1] || end[1] == ' ' || end[1] == '=');
}

/* pytest: "1 failed, 2 passed in 0.12s". */
static bool is_pytest(const char *line)
{
	static const char *const words[] = { " passed",  " failed",     " error",
					     " skipped", " deselected", "no tests ran" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (lines_find(line, words[i]))
			return ends_in_seconds(line);
	return false;
}

/* go: "ok  package 0.12s", "FAIL package 0.12s", "ok package (cached)". */
static bool is_go(const char *line)
{
	size_t size = strlen(line);

	if (strncmp(line, "ok  ", 4) != 0 && strncmp(line, "FAIL ", 5) != 0)
		return false;
	return lines_find(line, "(cached)") || lines_find(line, "[build failed]") ||
	       (line[size - 1] == 's' && lines_digit(line[size - 2]));
}

bool check_summary_is(const char *line)
{
	static const char *const begins[] = { "ran ",
					      "# tests ",
					      "\xe2\x84\xb9 tests ",
					      "1..",
					      "tests run: ",
					      "[info] tests run: ",
					      "[error] tests run: ",
					      "[warning] tests run: ",
					      "[==========] " };
	static const char *const phrases[] = { "test result: ok.", "test result: failed.",
					       " passing (", "% tests passed, " };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (begins_number(line, begins[i]))
			return true;
	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (lines_find(line, phrases[i]))
			return true;
	return (begins_number(line, "tests: ") && lines_find(line, " total")) ||
	       (begins_number(line, "tests  ") && line[strlen(line) - 1] == ')') ||
	       (lines_find(line, " examples, ") && lines_find(line, " failure")) ||
	       (lines_find(line, " runs, ") && lines_find(line, " assertions, ")) ||
	       is_pytest(line) || is_go(line);
}

/* ---- commands ---- */

/* A word of a command. */
struct word {
	const char *at;
	size_t size;
};

static bool next_word(const char **text, struct word *ret_word)
{
	const char *at = *text + strspn(*text, " \t");

	*ret_word = (struct word){ at, strcspn(at, " \t") };
	*text = at + ret_word->size;
	return ret_word->size > 0;
}

static bool is(const struct word *word, const char *text)
{
	return word->size == strlen(text) && strncmp(word->at, text, word->size) == 0;
}

/* The last part of a path. */
static struct word name_of(struct word word)
{
	for (size_t i = word.size; i-- > 0;)
		if (word.at[i] == '/')
			return (struct word){ word.at + i + 1, word.size - i - 1 };
	return word;
}

/* Options with which a runner prints something else, or runs nothing. */
static bool is_quiet(const struct word *word)
{
	static const char *const words[] = { "-h",         "--help",         "--version", "--co",
					     "-c",         "--collect-only", "--no-run",  "-json",
					     "--json",     "--list",         "-list",     "--watch",
					     "no:terminal" };
	static const char *const begins[] = { "-qq", "--test-reporter", "--format", "-o",
					      "--message-format" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is(word, words[i]))
			return true;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (word->size >= strlen(begins[i]) &&
		    strncmp(word->at, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Each program is a runner if one of its words is this one. */
static const struct {
	const char *program, *word;
} runners[] = {
	{ "python", "pytest" },    { "python", "unittest" }, { "python3", "pytest" },
	{ "python3", "unittest" }, { "node", "--test" },     { "cargo", "test" },
	{ "go", "test" },
};

static bool runs(const struct word *program, const struct word *word)
{
	for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
		if (is(program, runners[i].program) && is(word, runners[i].word))
			return true;
	return false;
}

/* Returns the last of the commands that all have to succeed. */
static const char *last_command(const char *command)
{
	for (const char *at = command; *at; at++)
		if (strncmp(at, "&&", 2) == 0 || *at == ';' || *at == '\n')
			command = at + strspn(at, "&;\n");
	return command;
}

bool check_summary_expected(const char *command)
{
	struct word program, word;
	bool runner, quiet = false;
	size_t short_ones = 0;

	if (strpbrk(command, "|<>`$()"))
		return false; /* the summary may go elsewhere */
	command = last_command(command);
	do
		if (!next_word(&command, &program))
			return false;
	while (memchr(program.at, '=', program.size) || is(&program, "env"));
	program = name_of(program);
	runner = is(&program, "pytest") || is(&program, "py.test");
	while (next_word(&command, &word)) {
		runner = runner || runs(&program, &word);
		quiet = quiet || is_quiet(&word);
		short_ones += is(&word, "-q");
	}
	return runner && !quiet && short_ones < 2;
}
