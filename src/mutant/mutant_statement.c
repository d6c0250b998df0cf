/* A line as a statement: see mutant_line.h. */
#include "detect/detect_match.h"
#include "mutant/mutant_line.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- brackets ---- */

/* Returns the bracket that closes the one at `at`, or NULL if the line does not have it. */
static const char *closing(const char *at)
{
	long depth = 0;

	for (; *at; at++) {
		depth += strchr("([{", *at) != NULL;
		depth -= strchr(")]}", *at) != NULL;
		if (depth == 0)
			return at;
	}
	return NULL;
}

static bool is_balanced(const char *at, const char *end)
{
	long depth = 0;

	for (; at < end && depth >= 0; at++) {
		depth += strchr("([{", *at) != NULL;
		depth -= strchr(")]}", *at) != NULL;
	}
	return depth == 0;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* ---- conditions ---- */

/* Returns where the condition of an `if` begins, or NULL if the line does not begin with one. */
static const char *condition(const struct mutant_line *line)
{
	const char *at = line->code + strspn(line->code, "} ");

	if (mutant_line_has_word(at, "elif") || mutant_line_has_word(at, "elsif"))
		return skip_blanks(at + mutant_line_word(at));
	if (mutant_line_has_word(at, "else"))
		at = skip_blanks(at + strlen("else"));
	if (!mutant_line_has_word(at, "if") && !mutant_line_has_word(at, "unless"))
		return NULL;
	return skip_blanks(at + mutant_line_word(at));
}

/* Returns where it ends, or NULL if that is on another line, or not known. */
static const char *condition_end(const struct mutant_line *line, const char *from)
{
	const char *end = from + strlen(from);

	switch (line->language) {
	case DETECT_PYTHON:
		return end > from && end[-1] == ':' ? end - 1 : NULL;
	case DETECT_GO:
	case DETECT_RUST:
		if (end == from || end[-1] != '{' || strchr(from, ';') ||
		    detect_match("<let>", from, NULL))
			return NULL;
		return end - 1;
	case DETECT_RUBY:
		return strchr(from, ';') || detect_match("<then>", from, NULL) ? NULL : end;
	default:
		return *from == '(' ? closing(from) : NULL;
	}
}

static void invert(struct mutant_line *line)
{
	const char *from = condition(line);
	const char *end = from ? condition_end(line, from) : NULL;
	bool inside = line->language == DETECT_JAVASCRIPT || line->language == DETECT_JAVA ||
		      line->language == DETECT_C;

	if (!end)
		return;
	from += inside;
	while (end > from && end[-1] == ' ')
		end--;
	if (end <= from || !is_balanced(from, end))
		return;

	AUTO_FREE char *text = mutant_line_copy(line, from, (size_t)(end - from));

	mutant_line_add(line, from, (size_t)(end - from),
			mem_format("%s(%s)", line->language == DETECT_PYTHON ? "not " : "!", text),
			"a condition is inverted");
}

/* ---- returned values ---- */

/* Another value, of any type that the language has. */
static const char *const other_values[] = {
	[DETECT_JAVASCRIPT] = "undefined",
	[DETECT_PYTHON] = "None",
	[DETECT_RUST] = "Default::default()",
	[DETECT_RUBY] = "nil",
};

/* Values that are other values already, or are changed as constants. */
static bool is_simple(const char *value)
{
	static const char *const simple[] = { "undefined", "null", "None",  "nil", "true",
					      "false",     "True", "False", "err", "void" };

	for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
		if (strcmp(value, simple[i]) == 0)
			return true;
	return value[strspn(value, "-0123456789")] == '\0';
}

static void replace_value(struct mutant_line *line)
{
	const char *other = (size_t)line->language < sizeof other_values / sizeof *other_values
				    ? other_values[line->language]
				    : NULL;
	const char *from = line->code;
	size_t size;

	if (!other || !mutant_line_has_word(from, "return"))
		return;
	from = skip_blanks(from + strlen("return"));
	size = strlen(from);
	while (size && strchr("; ", from[size - 1]))
		size--;

	AUTO_FREE char *value = mutant_line_copy(line, from, size);

	/* A statement that goes on in the next line, or has another one beside it, stays. */
	if (!size || is_simple(value) || memchr(from, ';', size) ||
	    !is_balanced(from, from + size) || strchr("\\,+-*/&|=?:.<", from[size - 1]) ||
	    (line->language == DETECT_RUBY &&
	     (detect_match("<if>", from, NULL) || detect_match("<unless>", from, NULL))))
		return;
	mutant_line_add(line, from, size, mem_dup(other), "a returned value was replaced");
}

/* ---- whole statements ---- */

/* Instead of a statement. Those of Rust and Java end with a semicolon, which stays. */
static const char *const nothing[] = {
	[DETECT_JAVASCRIPT] = "", [DETECT_PYTHON] = "pass", [DETECT_GO] = "",
	[DETECT_RUST] = "",       [DETECT_JAVA] = "",       [DETECT_C] = "",
	[DETECT_RUBY] = "nil",
};

/* Statements that leave, declare, or only tell: they are not removed. */
static const char *const kept[] = {
	"return",  "if",     "for",      "while",  "break",   "continue", "goto",     "throw",
	"raise",   "assert", "delete",   "let",    "const",   "var",      "function", "def",
	"fn",      "func",   "else",     "switch", "case",    "do",       "end",      "yield",
	"print",   "printf", "fprintf",  "puts",   "println", "console",  "log",      "logger",
	"logging", "fmt",    "System",   "super",  "await",   "defer",    "go",       "pass",
	"del",     "global", "nonlocal", "with",   "try",     "except",   "require"
};

static bool is_kept(const char *code)
{
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (mutant_line_has_word(code, kept[i]))
			return true;
	return !mutant_line_word(code);
}

/* Returns the end of a chain of names, such as self.items[i]->next. */
static const char *chain_end(const char *at)
{
	for (;;) {
		size_t size = mutant_line_word(at);
		const char *end = *at == '[' ? closing(at) : NULL;

		if (size)
			at += size;
		else if (end)
			at = end + 1;
		else if (*at == '.' && mutant_line_word(at + 1))
			at++;
		else if (strncmp(at, "->", 2) == 0 || strncmp(at, "::", 2) == 0)
			at += 2;
		else
			return at;
	}
}

/* Reports whether the statement only calls something, or changes something that exists. */
static bool has_effect(const char *code, const char *end)
{
	const char *at = chain_end(code);
	const char *close = *at == '(' ? closing(at) : NULL;
	bool member = at > code + mutant_line_word(code);

	if (close)
		return skip_blanks(close + 1) == end;
	at = skip_blanks(at);
	if (strncmp(at, "+=", 2) == 0 || strncmp(at, "-=", 2) == 0)
		return true;
	return (strncmp(at, "++", 2) == 0 || strncmp(at, "--", 2) == 0)
		       ? skip_blanks(at + 2) == end
		       : member && *at == '=' && at[1] != '=' && at[1] != '>';
}

static bool ends_with_semicolon(enum detect_language language)
{
	return language == DETECT_JAVASCRIPT || language == DETECT_RUST ||
	       language == DETECT_JAVA || language == DETECT_C;
}

/* Reports whether a statement can begin after this line. */
static bool is_complete(enum detect_language language, const char *previous)
{
	size_t size = strlen(previous);
	char last = size ? previous[size - 1] : ';';

	return ends_with_semicolon(language) ? strchr(";{}:", last) != NULL
					     : !strchr("([,+-*/&|=\\.<", last);
}

/* Reports whether a statement can end here. */
static bool is_end(const char *code, const char *end)
{
	return end > code && (!strchr("([{,+-*/&|=\\.<", end[-1]) ||
			      (end - code > 2 && strchr("+-", end[-1]) && end[-2] == end[-1]));
}

static void drop(struct mutant_line *line)
{
	const char *code = line->code;
	const char *end = code + strlen(code);

	if (end > code && end[-1] == ';')
		end--;
	else if (ends_with_semicolon(line->language))
		return;
	if (!is_end(code, end) || is_kept(code) || !is_complete(line->language, line->previous) ||
	    memchr(code, ';', (size_t)(end - code)) || !is_balanced(code, end) ||
	    !has_effect(code, end))
		return;
	mutant_line_add(line, code, (size_t)(end - code), mem_dup(nothing[line->language]),
			"a statement was removed");
}

void mutant_line_statement(struct mutant_line *line)
{
	invert(line);
	replace_value(line);
	drop(line);
}
