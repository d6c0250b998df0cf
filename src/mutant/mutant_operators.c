/* Operators and constants of a line: see mutant_line.h. */
#include "detect/detect_match.h"
#include "mutant/mutant_line.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ONLY(language) (1u << (language))
#define ANY            (~0u)

enum { MOST_DIGITS = 9 };

/* Which blanks an operator must have around it to be taken for a binary one. */
enum blanks { EVEN, BOTH };

/* All operators with more than one character are listed, so that none is taken for two. Those
 * without a replacement are left alone. The longest come first. */
static const struct token {
	const char *token, *text;
	unsigned languages;
	enum blanks blanks;
} operators[] = {
	{ "===", "!==", ONLY(DETECT_JAVASCRIPT), EVEN },
	{ "!==", "===", ONLY(DETECT_JAVASCRIPT), EVEN },
	{ ">>>", NULL, ANY, EVEN },
	{ "<<=", NULL, ANY, EVEN },
	{ ">>=", NULL, ANY, EVEN },
	{ "**=", NULL, ANY, EVEN },
	{ "//=", NULL, ANY, EVEN },
	{ "&&=", NULL, ANY, EVEN },
	{ "||=", NULL, ANY, EVEN },
	{ "<=>", NULL, ANY, EVEN },
	{ "...", NULL, ANY, EVEN },
	{ "..=", NULL, ANY, EVEN },
	{ "===", NULL, ANY, EVEN },
	{ "==", "!=", ANY, EVEN },
	{ "!=", "==", ANY, EVEN },
	{ "<=", "<", ANY, EVEN },
	{ ">=", ">", ANY, EVEN },
	{ "&&", "||", ANY & ~ONLY(DETECT_PYTHON), BOTH },
	{ "||", "&&", ANY & ~ONLY(DETECT_PYTHON), BOTH },
	{ "+=", "-=", ANY, EVEN },
	{ "-=", "+=", ANY, EVEN },
	{ "->", NULL, ANY, EVEN },
	{ "=>", NULL, ANY, EVEN },
	{ "<-", NULL, ANY, EVEN },
	{ "<<", NULL, ANY, EVEN },
	{ ">>", NULL, ANY, EVEN },
	{ "++", NULL, ANY, EVEN },
	{ "--", NULL, ANY, EVEN },
	{ "**", NULL, ANY, EVEN },
	{ "//", "*", ONLY(DETECT_PYTHON), EVEN },
	{ "*=", NULL, ANY, EVEN },
	{ "/=", NULL, ANY, EVEN },
	{ "%=", NULL, ANY, EVEN },
	{ "=~", NULL, ANY, EVEN },
	{ "</", NULL, ANY, EVEN },
	{ "/>", NULL, ANY, EVEN },
	{ "<", "<=", ANY, BOTH },
	{ ">", ">=", ANY, BOTH },
	{ "+", "-", ANY, EVEN },
	{ "-", "+", ANY, EVEN },
	{ "*", "/", ANY & ~ONLY(DETECT_C), EVEN },
	{ "/", "*", ANY & ~ONLY(DETECT_JAVASCRIPT), EVEN },
	{ "/", "*", ONLY(DETECT_JAVASCRIPT), BOTH }, /* otherwise a regular expression */
	{ "%", "*", ANY, BOTH },
};

static const struct word {
	const char *word, *text, *says;
	unsigned languages;
} words[] = {
	{ "and", "or", "'and' became 'or'", ONLY(DETECT_PYTHON) | ONLY(DETECT_RUBY) },
	{ "or", "and", "'or' became 'and'", ONLY(DETECT_PYTHON) | ONLY(DETECT_RUBY) },
	{ "true", "false", "a constant was changed", ANY & ~ONLY(DETECT_PYTHON) },
	{ "false", "true", "a constant was changed", ANY & ~ONLY(DETECT_PYTHON) },
	{ "True", "False", "a constant was changed", ONLY(DETECT_PYTHON) },
	{ "False", "True", "a constant was changed", ONLY(DETECT_PYTHON) },
};

static bool has_language(unsigned languages, const struct mutant_line *line)
{
	return languages & ONLY(line->language);
}

/* ---- operators ---- */

/* Words before which no operand ends: an operator after them has one operand. */
static const char *const no_operands[] = { "return", "case", "in",     "and",  "or",    "not",
					   "else",   "if",   "elif",   "when", "while", "yield",
					   "throw",  "move", "typeof", "then", "await", "unless" };

/* Returns where the operand before a place ends, or NULL if none does. */
static const char *operand_before(const struct mutant_line *line, const char *at)
{
	const char *last = at;
	size_t size = 0;

	while (last > line->code && last[-1] == ' ')
		last--;
	if (last == line->code || (!detect_match_is_word(last[-1]) && !strchr(")]}\"'`", last[-1])))
		return NULL;
	while (last - size > line->code && detect_match_is_word(last[-1 - (ptrdiff_t)size]))
		size++;
	for (size_t i = 0; i < sizeof no_operands / sizeof *no_operands; i++)
		if (size == strlen(no_operands[i]) &&
		    strncmp(last - size, no_operands[i], size) == 0)
			return NULL;
	return last;
}

/* Returns where the operand after a place begins, or NULL. */
static const char *operand_after(const char *at)
{
	while (*at == ' ')
		at++;
	return *at && (detect_match_is_word(*at) || strchr("([{\"'`-!&*.$@:~", *at)) ? at : NULL;
}

static bool is_quote(char character)
{
	return character && strchr("\"'`", character);
}

/* Reports whether an operator has two operands. A sum with a string is another operation. */
static bool is_binary(const struct mutant_line *line, const char *at, const struct token *found)
{
	const char *end = at + strlen(found->token);
	const char *before = operand_before(line, at);
	const char *after = operand_after(end);

	if (!before || !after)
		return false;
	if (found->blanks == BOTH ? before == at || after == end : (before == at) != (after == end))
		return false;
	return !strchr("+-*", *found->token) || (!is_quote(before[-1]) && !is_quote(*after));
}

static const struct token *find_operator(const struct mutant_line *line, const char *at)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (has_language(operators[i].languages, line) &&
		    strncmp(at, operators[i].token, strlen(operators[i].token)) == 0)
			return &operators[i];
	return NULL;
}

static const char *add_operator(struct mutant_line *line, const char *at)
{
	const struct token *found = find_operator(line, at);

	if (!found)
		return at + 1;
	if (found->text && is_binary(line, at, found))
		mutant_line_add(line, at, strlen(found->token), mem_dup(found->text),
				"an operator was replaced");
	return at + strlen(found->token);
}

/* ---- words and numbers ---- */

/* Python: `is` and `is not`. */
static void add_identity(struct mutant_line *line, const char *at)
{
	const char *rest = at + strlen("is") + strspn(at + strlen("is"), " ");
	bool negated = mutant_line_has_word(rest, "not");

	if (negated)
		mutant_line_add(line, at, (size_t)(rest - at) + strlen("not"), mem_dup("is"),
				"an operator was replaced");
	else if (*rest)
		mutant_line_add(line, at, strlen("is"), mem_dup("is not"),
				"an operator was replaced");
}

static const char *add_word(struct mutant_line *line, const char *at)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (has_language(words[i].languages, line) &&
		    mutant_line_has_word(at, words[i].word))
			mutant_line_add(line, at, strlen(words[i].word), mem_dup(words[i].text),
					words[i].says);
	if (line->language == DETECT_PYTHON && mutant_line_has_word(at, "is"))
		add_identity(line, at);
	return at + mutant_line_word(at);
}

/* Whole numbers, but not parts of others: 1.5, 0x10, 1e3, 10u. */
static const char *add_number(struct mutant_line *line, const char *at)
{
	size_t size = mutant_line_word(at);
	size_t digits = strspn(at, "0123456789");
	bool part = (at > line->code && at[-1] == '.') ||
		    (at[size] == '.' && isdigit((unsigned char)at[size + 1]));

	if (digits == size && size <= MOST_DIGITS && !part && (size == 1 || *at != '0'))
		mutant_line_add(line, at, size, mem_format("%ld", strtol(at, NULL, 10) + 1),
				"a constant was changed");
	return at + size;
}

void mutant_line_operators(struct mutant_line *line)
{
	for (const char *at = line->code; *at;) {
		if (isdigit((unsigned char)*at))
			at = add_number(line, at);
		else if (detect_match_is_word(*at))
			at = add_word(line, at);
		else
			at = add_operator(line, at);
	}
}
