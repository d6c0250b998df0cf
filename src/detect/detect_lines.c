/* Source files as lines: see detect_lines.h. */
#include "detect/detect_lines.h"

#include "detect/detect_match.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 2 << 20, MOST_COLUMNS = 1000, LOOKS = 50, LINE_STEPS = 8 };

/* ---- comments and strings ---- */

/* How a language writes them. */
struct syntax {
	const char *comment;        /* to the end of the line */
	const char *opens, *closes; /* a comment of several lines */
	const char *quotes;         /* of strings within a line */
	const char *long_quotes[3]; /* of strings of several lines */
};

static const struct syntax syntaxes[] = {
	[DETECT_OTHER] = { "#", NULL, NULL, "\"'", { NULL } },
	[DETECT_JAVASCRIPT] = { "//", "/*", "*/", "\"'", { "`" } },
	[DETECT_PYTHON] = { "#", NULL, NULL, "\"'", { "\"\"\"", "'''" } },
	[DETECT_GO] = { "//", "/*", "*/", "\"'", { "`" } },
	[DETECT_RUST] = { "//", "/*", "*/", "\"", { NULL } },
	[DETECT_JAVA] = { "//", "/*", "*/", "\"'", { "\"\"\"" } },
	[DETECT_C] = { "//", "/*", "*/", "\"'", { NULL } },
	[DETECT_RUBY] = { "#", NULL, NULL, "\"'", { NULL } },
};

/* Reads code from line to line. */
struct reader {
	const struct syntax *syntax;
	const char *until; /* what ends a comment or a string of several lines, or NULL */
	bool comment;      /* it is a comment */
};

static bool begins(const char *at, const char *with)
{
	return with && strncmp(at, with, strlen(with)) == 0;
}

static const char *long_quote(const struct syntax *syntax, const char *at)
{
	for (size_t i = 0; i < 3; i++)
		if (begins(at, syntax->long_quotes[i]))
			return syntax->long_quotes[i];
	return NULL;
}

/* Blanks up to the end of what `until` ends. Returns where code goes on. */
static char *skip_until(struct reader *reader, char *at)
{
	char *end = strstr(at, reader->until);

	for (; *at && at != end; at++)
		*at = ' ';
	if (!end)
		return at;
	at = end + strlen(reader->until);
	if (reader->comment)
		memset(end, ' ', strlen(reader->until));
	reader->until = NULL;
	return at;
}

/* Blanks a string within a line, between its quotation marks. */
static char *skip_string(char *at)
{
	char quote = *at++;

	for (; *at && *at != quote; at++) {
		bool escape = *at == '\\' && at[1];

		*at = ' ';
		if (escape)
			*++at = ' ';
	}
	return *at ? at + 1 : at;
}

static void blank(struct reader *reader, char *line)
{
	const struct syntax *syntax = reader->syntax;

	for (char *at = line; *at;) {
		const char *quote;

		if (reader->until) {
			at = skip_until(reader, at);
		} else if (begins(at, syntax->comment)) {
			memset(at, ' ', strlen(at));
		} else if (begins(at, syntax->opens)) {
			memset(at, ' ', strlen(syntax->opens));
			*reader = (struct reader){ syntax, syntax->closes, true };
		} else if ((quote = long_quote(syntax, at))) {
			at += strlen(quote);
			*reader = (struct reader){ syntax, quote, false };
		} else if (strchr(syntax->quotes, *at)) {
			at = skip_string(at);
		} else {
			at++;
		}
	}
}

/* ---- shapes ---- */

static const char *const constants[] = { "true", "false", "True", "False",
					 "null", "None",  "nil",  "undefined" };

static bool is_constant(const char *at, size_t size)
{
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (strlen(constants[i]) == size && strncmp(at, constants[i], size) == 0)
			return true;
	return false;
}

/* Adds a word, or 0 if it is a literal. Returns the end of the word. */
static const char *add_word(const char *at, char **to)
{
	const char *end = at;
	bool number = isdigit((unsigned char)*at);

	while (detect_match_is_word(*end) || (number && *end == '.'))
		end++;
	if (number || is_constant(at, (size_t)(end - at))) {
		*(*to)++ = '0';
	} else {
		memcpy(*to, at, (size_t)(end - at));
		*to += end - at;
	}
	return end;
}

static char *shape_of(const char *code)
{
	char *shape = mem_alloc(strlen(code) + 1);
	char *to = shape;

	while (*code) {
		if (detect_match_is_word(*code)) {
			code = add_word(code, &to);
		} else if (strchr("\"'`", *code)) {
			const char *end = strchr(code + 1, *code);

			*to++ = '0';
			code = end ? end + 1 : code + strlen(code);
		} else {
			if (!isspace((unsigned char)*code))
				*to++ = *code;
			code++;
		}
	}
	*to = '\0';
	return shape;
}

/* ---- lines ---- */

/* Copies a part of a line, with blanks for NUL bytes. */
static char *copy(const char *from, size_t size)
{
	char *text = mem_alloc(size + 1);

	for (size_t i = 0; i < size; i++)
		text[i] = from[i] ? from[i] : ' ';
	text[size] = '\0';
	return text;
}

/* Compilers accept code with a NUL byte. */
static bool is_binary(const struct detect_text *text, enum detect_language language)
{
	return language == DETECT_OTHER && memchr(text->data, '\0', text->size);
}

static void add_line(struct detect_lines *lines, struct reader *reader, const char *at, size_t size)
{
	struct detect_line *line;
	size_t indent = 0;

	while (indent < size && (at[indent] == ' ' || at[indent] == '\t'))
		indent++;
	while (size > indent && isspace((unsigned char)at[size - 1]))
		size--;
	size = size - indent < MOST_COLUMNS ? size - indent : MOST_COLUMNS;
	lines->items = mem_extend(lines->items, lines->count, sizeof *lines->items);
	line = &lines->items[lines->count++];
	*line = (struct detect_line){ .text = copy(at + indent, size),
				      .code = copy(at + indent, size),
				      .indent = indent };
	blank(reader, line->code);
	line->shape = shape_of(line->code);
}

void detect_lines_read(const struct detect_text *text, enum detect_language language,
		       struct detect_lines *ret_lines)
{
	struct reader reader = { .syntax = &syntaxes[language] };
	const char *at = text->data;
	const char *end = at ? at + text->size : NULL;

	*ret_lines = (struct detect_lines){ 0 };
	if (!at || text->size > MOST_BYTES || is_binary(text, language))
		return;
	ret_lines->steps = LOOKS * (text->size + MOST_COLUMNS);
	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		next = next ? next : end;
		add_line(ret_lines, &reader, at, (size_t)(next - at));
		at = next + 1;
	}
}

void detect_lines_release(struct detect_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		free(lines->items[i].text);
		free(lines->items[i].code);
		free(lines->items[i].shape);
	}
	free(lines->items);
	*lines = (struct detect_lines){ 0 };
}

/* ---- blocks ---- */

bool detect_lines_step(struct detect_lines *lines, size_t line)
{
	uint64_t steps = LINE_STEPS + strlen(lines->items[line].code);

	lines->steps -= steps < lines->steps ? steps : lines->steps;
	return lines->steps > 0;
}

static bool is_blank(const struct detect_line *line)
{
	return !*line->shape;
}

/* Ends where a line is indented no more than the first one, but for its own closing bracket. */
static size_t block_by_indent(struct detect_lines *lines, size_t from)
{
	size_t indent = lines->items[from].indent;
	size_t at = from + 1;

	while (at < lines->count && detect_lines_step(lines, at) &&
	       (is_blank(&lines->items[at]) || lines->items[at].indent > indent ||
		strchr(")]}", *lines->items[at].code)))
		at++;
	return at;
}

static size_t block_by_end(struct detect_lines *lines, size_t from)
{
	size_t indent = lines->items[from].indent;
	size_t at = from + 1;

	while (at < lines->count && detect_lines_step(lines, at) &&
	       (is_blank(&lines->items[at]) || lines->items[at].indent > indent))
		at++;
	return at < lines->count ? at + 1 : at;
}

/* Ends where all brackets that the first lines opened are closed. */
static size_t block_by_brackets(struct detect_lines *lines, size_t from)
{
	long depth = 0;
	bool opened = false;

	size_t at = from;

	for (; at < lines->count && detect_lines_step(lines, at); at++) {
		for (const char *code = lines->items[at].code; *code; code++) {
			depth += strchr("([{", *code) != NULL;
			depth -= strchr(")]}", *code) != NULL;
			opened = opened || *code == '{' || *code == '(';
		}
		/* The head of a function may end before its body begins. */
		if (opened && depth <= 0 &&
		    (at + 1 == lines->count || *lines->items[at + 1].code != '{'))
			return at + 1;
	}
	return at > from ? at : from + 1;
}

size_t detect_lines_block(struct detect_lines *lines, enum detect_language language, size_t from)
{
	switch (language) {
	case DETECT_PYTHON:
	case DETECT_OTHER:
		return block_by_indent(lines, from);
	case DETECT_RUBY:
		return block_by_end(lines, from);
	default:
		return block_by_brackets(lines, from);
	}
}
