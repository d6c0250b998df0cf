/* Source files as lines: see detect_lines.h. */
#include "detect/detect_lines.h"

#include "detect/detect_match.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = DETECT_LINES_COLUMNS, LOOKS = 50, LINE_STEPS = 8 };

/* ---- comments and strings ---- */

/* How a language writes them. */
struct syntax {
	const char *comment;        /* to the end of the line */
	const char *opens, *closes; /* a comment of several lines */
	const char *quotes;         /* of strings within a line */
	const char *long_quotes[3]; /* of strings of several lines */
	bool expressions;           /* has regular expressions between slashes */
	bool characters;            /* has characters in a quotation mark that also stands alone */
};

static const struct syntax syntaxes[] = {
	[DETECT_OTHER] = { "#", NULL, NULL, "\"'", { NULL }, false, false },
	[DETECT_JAVASCRIPT] = { "//", "/*", "*/", "\"'", { "`" }, true, false },
	[DETECT_PYTHON] = { "#", NULL, NULL, "\"'", { "\"\"\"", "'''" }, false, false },
	[DETECT_GO] = { "//", "/*", "*/", "\"'", { "`" }, false, false },
	[DETECT_RUST] = { "//", "/*", "*/", "\"", { NULL }, false, true },
	[DETECT_JAVA] = { "//", "/*", "*/", "\"'", { "\"\"\"" }, false, false },
	[DETECT_C] = { "//", "/*", "*/", "\"'", { NULL }, false, false },
	[DETECT_RUBY] = { "#", NULL, NULL, "\"'", { NULL }, true, false },
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

/* Blanks up to `end`, but for the ends of lines. */
static char *blank_to(char *at, const char *end)
{
	for (; at < end; at++)
		*at = *at == '\n' ? '\n' : ' ';
	return at;
}

/* Returns where `until` is found, or the end of the text. */
static char *find_end(char *at, const char *until)
{
	char *end = strstr(at, until);

	return end ? end : at + strlen(at);
}

static char *skip_comment(const struct syntax *syntax, char *at)
{
	char *end = find_end(at + strlen(syntax->opens), syntax->closes);

	return blank_to(at, end + (*end ? strlen(syntax->closes) : 0));
}

static char *skip_long_string(const char *quote, char *at)
{
	char *end = find_end(at + strlen(quote), quote);

	blank_to(at + strlen(quote), end);
	return end + (*end ? strlen(quote) : 0);
}

/* Blanks a string within a line, between its quotation marks. */
static char *skip_string(char *at)
{
	char quote = *at++;

	for (; *at && *at != '\n' && *at != quote; at++) {
		bool escape = *at == '\\' && at[1] && at[1] != '\n';

		*at = ' ';
		if (escape)
			*++at = ' ';
	}
	return *at == quote ? at + 1 : at;
}

/* Reports whether a slash begins a regular expression: after a value, it divides. */
static bool is_expression(char before, const char *at)
{
	const char *end = at + 1;

	if (before && !strchr("(,=:[!&|?{;~", before))
		return false;
	for (; *end && *end != '\n' && *end != '/'; end++)
		end += *end == '\\' && end[1] && end[1] != '\n';
	return *end == '/';
}

/* Reports whether a quotation mark begins a character, such as '{', and not a lifetime. */
static bool is_character(const char *at)
{
	return *at == '\'' && at[1] && at[1] != '\n' && (at[1] == '\\' || at[2] == '\'');
}

static bool is_string(const struct syntax *syntax, const char *at, char before)
{
	return strchr(syntax->quotes, *at) || (syntax->characters && is_character(at)) ||
	       (syntax->expressions && *at == '/' && is_expression(before, at));
}

/* Blanks comments and the contents of strings. */
static void blank(const struct syntax *syntax, char *text)
{
	char before = '\0';

	for (char *at = text; *at;) {
		const char *quote = long_quote(syntax, at);

		if (begins(at, syntax->comment)) {
			at = blank_to(at, at + strcspn(at, "\n"));
		} else if (begins(at, syntax->opens)) {
			at = skip_comment(syntax, at);
		} else if (quote || is_string(syntax, at, before)) {
			at = quote ? skip_long_string(quote, at) : skip_string(at);
			before = '"';
		} else {
			before = isspace((unsigned char)*at) ? before : *at;
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

/* In code, the contents of strings are blank. */
static bool is_string_start(const char *code)
{
	return strchr("\"'`", *code) &&
	       (!code[1] || code[1] == *code || isspace((unsigned char)code[1]));
}

char *detect_lines_shape(const char *code)
{
	char *shape = mem_alloc(strlen(code) + 1);
	char *to = shape;

	while (*code) {
		if (detect_match_is_word(*code)) {
			code = add_word(code, &to);
		} else if (is_string_start(code)) {
			const char *end = strchr(code + 1, *code);

			*to++ = '0';
			code = end ? end + 1 : code + strlen(code);
		} else {
			to -= to > shape && to[-1] == ',' && strchr(")]}", *code);
			if (!isspace((unsigned char)*code))
				*to++ = *code;
			code++;
		}
	}
	*to = '\0';
	return shape;
}

/* ---- lines ---- */

/* Copies a part of a text. */
static char *copy(const char *from, size_t size)
{
	char *text = mem_alloc(size + 1);

	memcpy(text, from, size);
	text[size] = '\0';
	return text;
}

/* Compilers accept code with a NUL byte. */
static bool is_binary(const struct detect_text *text, enum detect_language language)
{
	return language == DETECT_OTHER && memchr(text->data, '\0', text->size);
}

bool detect_lines_source(const struct detect_text *text, enum detect_language language,
			 struct detect_source *ret_source)
{
	if (!text->data || text->size > DETECT_LINES_BYTES || is_binary(text, language))
		return false;
	ret_source->size = text->size;
	ret_source->text = copy(text->data, text->size);
	for (size_t i = 0; i < text->size; i++)
		if (!ret_source->text[i])
			ret_source->text[i] = ' ';
	ret_source->code = copy(ret_source->text, text->size);
	blank(&syntaxes[language], ret_source->code);
	return true;
}

void detect_lines_source_release(struct detect_source *source)
{
	free(source->text);
	free(source->code);
}

static void add_line(struct detect_lines *lines, const struct detect_source *source, size_t at,
		     size_t size)
{
	const char *text = source->text + at;
	struct detect_line *line;
	size_t indent = 0;

	while (indent < size && (text[indent] == ' ' || text[indent] == '\t'))
		indent++;
	while (size > indent && isspace((unsigned char)text[size - 1]))
		size--;
	size = size - indent < MOST_COLUMNS ? size - indent : MOST_COLUMNS;
	lines->items = mem_extend(lines->items, lines->count, sizeof *lines->items);
	line = &lines->items[lines->count++];
	*line = (struct detect_line){ .number = lines->count,
				      .text = copy(text + indent, size),
				      .code = copy(source->code + at + indent, size),
				      .key = copy(text + indent, size),
				      .indent = indent };
	line->shape = detect_lines_shape(line->code);
}

void detect_lines_init(struct detect_lines *lines, size_t size)
{
	*lines = (struct detect_lines){ .steps = LOOKS * (size + MOST_COLUMNS) };
}

void detect_lines_read(const struct detect_text *text, enum detect_language language,
		       struct detect_lines *ret_lines)
{
	struct detect_source source;

	detect_lines_init(ret_lines, text->size);
	if (!detect_lines_source(text, language, &source))
		return;
	for (size_t at = 0; at < source.size;) {
		size_t size = strcspn(source.text + at, "\n");

		add_line(ret_lines, &source, at, size);
		at += size + 1;
	}
	detect_lines_source_release(&source);
}

bool detect_lines_same_shape(const char *one, const char *other)
{
	size_t size = strlen(one), other_size = strlen(other);

	size -= size && strchr(";,", one[size - 1]);
	other_size -= other_size && strchr(";,", other[other_size - 1]);
	return size == other_size && strncmp(one, other, size) == 0;
}

void detect_lines_release(struct detect_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		free(lines->items[i].text);
		free(lines->items[i].code);
		free(lines->items[i].shape);
		free(lines->items[i].key);
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

static bool closes_block(const char *code)
{
	return *code == '}' || *code == ')' || detect_match("<end>", code, NULL) == code;
}

static size_t block_by_end(struct detect_lines *lines, size_t from)
{
	size_t indent = lines->items[from].indent;
	size_t at = from + 1;

	while (at < lines->count && detect_lines_step(lines, at) &&
	       (is_blank(&lines->items[at]) || lines->items[at].indent > indent))
		at++;
	return at < lines->count && closes_block(lines->items[at].code) ? at + 1 : at;
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
