/* Source files as statements: see detect_statements.h. */
#include "detect/detect_statements.h"

#include "detect/detect_match.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = DETECT_LINES_COLUMNS, LONG_ROW = 400 };

/* The meaning of a bracket for the statements in it. */
enum group {
	PLAIN,  /* no bracket, or one without a counterpart */
	INLINE, /* arguments, or the values of a row: a part of a statement */
	LIST,   /* rows */
	KEYED,  /* values with names */
	BLOCK,  /* statements */
};

struct source {
	struct detect_source all;
	enum detect_language language;
	unsigned char *groups; /* for each position: the group of the bracket there */
	size_t next;           /* the first code after the end of a line that was looked at */
};

/* ---- tokens ---- */

static bool is_blank(char character)
{
	return isspace((unsigned char)character);
}

/* Returns the end of the string that begins at `at`, or `at`. The contents are blank in the code,
 * and so is a comment, which no quotation mark precedes. */
static size_t string_end(const struct source *source, size_t at)
{
	const char *code = source->all.code;
	char quote = code[at];
	size_t size = 1;
	const char *end;

	if (!strchr("\"'`/", quote) || !quote)
		return at;
	if (strchr("'/", quote) &&
	    !(is_blank(code[at + 1]) && !is_blank(source->all.text[at + 1])) &&
	    (quote == '/' || source->language == DETECT_RUST))
		return at;
	if (quote != '/' && code[at + 1] == quote && code[at + 2] == quote)
		size = 3;
	for (end = code + at + size; *end; end++) {
		if (*end == quote && (size == 1 || (end[1] == quote && end[2] == quote)))
			return (size_t)(end - code) + size;
		if (*end == '\n' && size == 1 && quote != '`')
			break;
		if (!is_blank(*end))
			break;
	}
	return (size_t)(end - code);
}

/* Returns the first position of code after an end of line. */
static size_t next_code(struct source *source, size_t newline)
{
	if (source->next <= newline)
		source->next = newline + 1;
	while (source->next < source->all.size && is_blank(source->all.code[source->next]))
		source->next++;
	return source->next;
}

static bool begins(const char *at, const char *word)
{
	size_t size = strlen(word);

	return strncmp(at, word, size) == 0 && !detect_match_is_word(at[size]);
}

/* Reports whether a statement cannot end after this code. */
static bool is_unfinished(const struct source *source, size_t last)
{
	char end = source->all.code[last];
	char before = last ? source->all.code[last - 1] : '\0';

	switch (end) {
	case '=':
	case ',':
	case '\\':
		return true;
	case '+':
	case '.':
		return before != end;
	case '&':
	case '|':
		return before == end;
	case '<':
		return before == '<';
	case '>':
		return before == '=' || before == '-';
	default:
		return false;
	}
}

/* Reports whether a statement goes on with this code. */
static bool is_continuation(const struct source *source, size_t next)
{
	const char *at = source->all.code + next;

	switch (*at) {
	case '.':
		return at[1] != '.';
	case '&':
	case '|':
	case '<':
		return at[1] == *at;
	case '?':
	case '+':
		return is_blank(at[1]);
	case '=':
		return true;
	case '{':
		return source->language != DETECT_RUBY;
	default:
		return false;
	}
}

/* Reports whether a statement ends at an end of line, after the code at `last`. */
static bool ends_at(struct source *source, size_t last, size_t newline)
{
	return !is_unfinished(source, last) && !is_continuation(source, next_code(source, newline));
}

/* ---- groups ---- */

/* How far an element of a group has been read. */
enum progress { AT_START, IN_FIRST_WORD, AFTER_FIRST_WORD, FURTHER };

/* An open bracket, and what is directly in it. */
struct open {
	size_t at, last; /* the bracket, and the last code */
	enum progress element;
	bool commas, keys, statements;
	bool values; /* a comma follows something else than a closing bracket */
};

struct opens {
	struct open *items;
	size_t count;
	size_t of_kind[3]; /* how many of them there are of each kind */
};

/* The kind of a bracket. */
static size_t kind_of(char bracket)
{
	return strchr("()", bracket) ? 0 : strchr("[]", bracket) ? 1 : 2;
}

static enum group group_of(const struct source *source, const struct open *open)
{
	bool rows = open->commas && !open->values;

	switch (source->all.code[open->at]) {
	case '(':
		return INLINE;
	case '[':
		return rows ? LIST : INLINE;
	default:
		if (open->statements && source->language != DETECT_PYTHON)
			return BLOCK;
		if (rows && !open->keys)
			return LIST;
		if (open->keys)
			return KEYED;
		return open->commas || open->last == open->at ? INLINE : BLOCK;
	}
}

static void open_group(const struct source *source, struct opens *opens, size_t at)
{
	if (opens->count)
		opens->items[opens->count - 1].element = FURTHER;
	opens->items = mem_extend(opens->items, opens->count, sizeof *opens->items);
	opens->items[opens->count++] = (struct open){ .at = at, .last = at };
	opens->of_kind[kind_of(source->all.code[at])]++;
}

/* Closes the last group of this kind, and gives up those that are still open in it. */
static void close_group(struct source *source, struct opens *opens, size_t at)
{
	size_t kind = kind_of(source->all.code[at]);
	struct open *open;

	if (!opens->of_kind[kind])
		return;
	do {
		open = &opens->items[--opens->count];
		opens->of_kind[kind_of(source->all.code[open->at])]--;
	} while (kind_of(source->all.code[open->at]) != kind);
	source->groups[at] = (unsigned char)group_of(source, open);
	source->groups[open->at] = source->groups[at];
	if (opens->count)
		opens->items[opens->count - 1].last = at;
}

static void see_code(const struct source *source, struct open *open, size_t at)
{
	const char *code = source->all.code + at;
	bool word = detect_match_is_word(*code) || *code == '"' || *code == '\'';

	if (open->element == AFTER_FIRST_WORD && word)
		open->statements = true;
	if (open->element == AT_START && detect_match_is_word(*code))
		open->element = IN_FIRST_WORD;
	else if (open->element != IN_FIRST_WORD || !detect_match_is_word(*code))
		open->element = FURTHER;
	if (*code == ',') {
		open->commas = true;
		open->values |= !strchr(")]}", source->all.code[open->last]);
		open->element = AT_START;
	}
	open->statements |= *code == ';' || (*code == '|' && open->last == open->at);
	open->keys |= *code == '=' || (*code == ':' && code[1] != ':' && code[-1] != ':');
	open->last = at;
}

static void see(struct source *source, struct open *open, size_t at)
{
	char character = source->all.code[at];

	if (!is_blank(character))
		see_code(source, open, at);
	else if (open->element == IN_FIRST_WORD)
		open->element = AFTER_FIRST_WORD;
	if (character == '\n' && open->last != open->at &&
	    !strchr(")]}", source->all.code[next_code(source, at)]) &&
	    ends_at(source, open->last, at))
		open->statements = true;
}

static void find_groups(struct source *source)
{
	struct opens opens = { 0 };

	source->next = 0;
	for (size_t at = 0; at < source->all.size; at++) {
		char character = source->all.code[at];
		size_t end = string_end(source, at);

		if (character && strchr("([{", character))
			open_group(source, &opens, at);
		else if (character && strchr(")]}", character))
			close_group(source, &opens, at);
		else if (opens.count)
			see(source, &opens.items[opens.count - 1], at);
		if (end > at) {
			at = end - 1;
			if (opens.count)
				opens.items[opens.count - 1].last = at;
		}
	}
	free(opens.items);
}

/* ---- building statements ---- */

enum blank { NO_BLANK, BLANK, NEW_LINE };

struct level {
	enum group group;
	bool named; /* begins with a string, such as the name of a test */
};

struct builder {
	struct source *source;
	struct detect_lines *lines;
	struct buffer text, code, key; /* of the statement that is being read */
	enum blank blank;              /* what precedes the next character */
	size_t number, indent;         /* of the statement */
	size_t line, line_indent;      /* of the line that is being read */
	size_t line_depth, line_count; /* open groups and statements when it began */
	struct level *levels;
	size_t depth;
	bool closed; /* the last character has closed a block */
	bool row;
};

static enum group group(const struct builder *builder)
{
	return builder->depth ? builder->levels[builder->depth - 1].group : BLOCK;
}

static bool is_empty(const struct builder *builder)
{
	return builder->text.used == 0;
}

static char last_of(const struct buffer *buffer)
{
	return buffer->used ? buffer->data[buffer->used - 1] : '\0';
}

static void add_statement(struct builder *builder, const char *text, const char *code,
			  const char *key)
{
	struct detect_lines *lines = builder->lines;
	struct detect_line *line;

	lines->items = mem_extend(lines->items, lines->count, sizeof *lines->items);
	line = &lines->items[lines->count++];
	*line = (struct detect_line){ .number = builder->number,
				      .text = mem_dup(text),
				      .code = mem_dup(code),
				      .shape = detect_lines_shape(code),
				      .key = mem_dup(key),
				      .indent = builder->indent,
				      .row = builder->row };
}

static void cut(struct buffer *buffer, size_t size)
{
	buffer->used = size;
	if (buffer->data)
		buffer->data[size] = '\0';
}

static void end_statement(struct builder *builder)
{
	if (!is_empty(builder)) {
		while (builder->key.used && strchr(";,", last_of(&builder->key)))
			cut(&builder->key, builder->key.used - 1);
		add_statement(builder, buffer_text(&builder->text), buffer_text(&builder->code),
			      buffer_text(&builder->key));
	}
	cut(&builder->text, 0);
	cut(&builder->code, 0);
	cut(&builder->key, 0);
	builder->blank = NO_BLANK;
	builder->closed = builder->row = false;
}

/* The blocks in which a statement begins that is not the first one of its line. */
static size_t inner_depth(const struct builder *builder)
{
	bool first = builder->lines->count == builder->line_count;
	bool by_words = builder->source->language == DETECT_PYTHON ||
			builder->source->language == DETECT_RUBY;
	size_t depth = builder->depth > builder->line_depth ? builder->depth - builder->line_depth
							    : 0;

	return first ? 0 : depth + by_words;
}

static void begin_statement(struct builder *builder, size_t at)
{
	const char *code = builder->source->all.code + at;
	bool closes = strchr(")]}", *code) || begins(code, "end");
	size_t depth = inner_depth(builder);

	builder->number = builder->line;
	builder->indent = builder->line_indent + depth - (closes && depth);
	builder->row = group(builder) == LIST && !closes;
}

static void add_both(struct builder *builder, const char *text, const char *code, size_t size)
{
	if (builder->text.used + size > MOST_COLUMNS)
		size = MOST_COLUMNS - builder->text.used;
	buffer_add(&builder->text, text, size);
	buffer_add(&builder->code, code, size);
	for (size_t i = builder->text.used - size; i < builder->text.used; i++)
		if (builder->text.data[i] == '\n')
			builder->text.data[i] = builder->code.data[i] = ' ';
}

/* Adds the blank before a character, as it would stand on one line. */
static void add_blank(struct builder *builder, char next)
{
	char last = last_of(&builder->code);
	bool tight = (last && strchr("([{", last)) || (next && strchr(")]},;.", next));

	if (builder->blank == BLANK || (builder->blank == NEW_LINE && !tight))
		add_both(builder, " ", " ", 1);
	if (builder->blank && detect_match_is_word(next) &&
	    detect_match_is_word(last_of(&builder->key)))
		buffer_add(&builder->key, " ", 1);
	builder->blank = NO_BLANK;
}

/* Adds code from `at` to `end`. */
static void add(struct builder *builder, size_t at, size_t end)
{
	const struct detect_source *all = &builder->source->all;
	bool string = end > at + 1;

	if (is_empty(builder))
		begin_statement(builder, at);
	else
		add_blank(builder, all->code[at]);
	add_both(builder, all->text + at, all->code + at, end - at);
	if (strchr(")]}", all->code[at]) && last_of(&builder->key) == ',')
		cut(&builder->key, builder->key.used - 1);
	if (string && strchr("'`", all->code[at])) {
		buffer_add(&builder->key, "\"", 1);
		buffer_add(&builder->key, all->text + at + 1, end - at - 2);
		buffer_add(&builder->key, "\"", 1);
	} else {
		buffer_add(&builder->key, all->text + at, end - at);
	}
	builder->closed = false;
}

/* ---- where statements end ---- */

static const char *const headers[] = { "def",     "class", "if",    "elif", "else",
				       "for",     "while", "with",  "try",  "except",
				       "finally", "async", "match", "case", NULL };
/* Words that go on after a block. */
static const char *const followers[] = { "else",      "catch",  "finally", "while",  "as",
					 "satisfies", "from",   "if",      "unless", "and",
					 "or",        "rescue", "ensure",  NULL };

static bool begins_any(const char *at, const char *const *words)
{
	for (; *words; words++)
		if (begins(at, *words))
			return true;
	return false;
}

static const char *begun(struct builder *builder)
{
	return buffer_text(&builder->code);
}

/* Python: the colon before a block. */
static bool ends_header(struct builder *builder, size_t at)
{
	return builder->source->language == DETECT_PYTHON && builder->depth == 0 &&
	       builder->source->all.code[at] == ':' && builder->source->all.code[at + 1] != '=' &&
	       begins_any(begun(builder), headers);
}

/* The head of a function whose body is an expression: Ruby and Kotlin have `=`, JavaScript has
 * `=>`, which is looked for in arguments after a name. */
static bool ends_head(struct builder *builder, size_t at)
{
	const struct source *source = builder->source;
	const char *code = source->all.code + at;

	if (source->language == DETECT_JAVASCRIPT)
		return *code == '>' && at && code[-1] == '=' && builder->depth &&
		       builder->levels[builder->depth - 1].named &&
		       source->all.code[next_code(builder->source, at)] != '{';
	if (*code != '=' || !at || code[-1] != ' ' || code[1] != ' ' || group(builder) != BLOCK)
		return false;
	return (source->language == DETECT_RUBY && begins(begun(builder), "def")) ||
	       (source->language == DETECT_JAVA && detect_match("<fun ", begun(builder), NULL));
}

/* A comma after a row or a value with a name. A row that is very long is cut. */
static bool ends_element(const struct builder *builder, size_t at)
{
	const char *after = builder->source->all.code + at + 1;

	after += strspn(after, " \t");
	switch (group(builder)) {
	case LIST:
	case KEYED:
		return true;
	case BLOCK:
		return builder->depth && *after == '\n' && builder->source->language != DETECT_RUBY;
	default:
		return builder->text.used > LONG_ROW;
	}
}

/* In Go, a semicolon may be in the head of a block. */
static bool is_in_head(struct builder *builder)
{
	static const char *const heads[] = { "if", "for", "switch", NULL };
	const char *code = begun(builder);

	code += strncmp(code, "} else ", 7) == 0 ? 7 : 0;
	return builder->source->language == DETECT_GO && begins_any(code, heads);
}

static bool ends_after(struct builder *builder, size_t at)
{
	enum group inside = group(builder);

	switch (builder->source->all.code[at]) {
	case ';':
		return (inside == BLOCK || inside == KEYED) && !is_in_head(builder);
	case ',':
		return ends_element(builder, at);
	default:
		return ends_header(builder, at) || ends_head(builder, at);
	}
}

/* Reports whether code after a block, or the `end` of one, begins a statement. */
static bool ends_before(const struct builder *builder, size_t at)
{
	const char *code = builder->source->all.code + at;
	bool word = detect_match_is_word(*code) && !(at && detect_match_is_word(code[-1]));

	if (builder->closed)
		return (word && !begins_any(code, followers)) || *code == '@' || *code == '#';
	return word && builder->source->language == DETECT_RUBY && begins(code, "end") &&
	       code[3] != ':' && is_blank(code[-1]) && builder->lines->count > builder->line_count;
}

/* Returns the end of the parameters of a block of Ruby, or `at`. */
static size_t parameters_end(const struct builder *builder, size_t at)
{
	const char *code = builder->source->all.code + at;
	size_t size = strspn(code, " \t");

	if (builder->source->language != DETECT_RUBY || code[size] != '|')
		return at;
	size += 1 + strcspn(code + size + 1, "|\n");
	return at + size + (code[size] == '|');
}

/* Returns the end of a `do` with its parameters, or `at`. */
static size_t do_end(const struct builder *builder, size_t at)
{
	const char *code = builder->source->all.code + at;

	if (builder->source->language != DETECT_RUBY || !begins(code, "do") || at == 0 ||
	    !is_blank(code[-1]) || group(builder) == INLINE)
		return at;
	return parameters_end(builder, at + 2);
}

/* ---- reading ---- */

static void push(struct builder *builder, enum group group, size_t at)
{
	const char *first = builder->source->all.code + at + 1;

	first += strspn(first, " \t\n");
	builder->levels = mem_extend(builder->levels, builder->depth, sizeof *builder->levels);
	builder->levels[builder->depth++] = (struct level){ group,
							    *first && strchr("\"'`", *first) };
}

/* Returns where code goes on after an opening bracket. */
static size_t read_opening(struct builder *builder, size_t at)
{
	enum group opened = builder->source->groups[at];
	size_t end = opened == BLOCK ? parameters_end(builder, at + 1) : at + 1;

	if (opened == KEYED && group(builder) == LIST)
		opened = INLINE;
	add(builder, at, at + 1);
	if (end > at + 1)
		add(builder, at + 1, end);
	if (opened == PLAIN && builder->source->all.code[at] != '{')
		return end;
	if (opened != PLAIN)
		push(builder, opened, at);
	if (opened != INLINE)
		end_statement(builder);
	return end;
}

static void read_closing(struct builder *builder, size_t at)
{
	bool known = builder->source->groups[at] != PLAIN && builder->depth;
	enum group closed = known ? group(builder) : PLAIN;

	if (closed != INLINE && (known || builder->source->all.code[at] == '}'))
		end_statement(builder);
	builder->depth -= known;
	add(builder, at, at + 1);
	builder->closed = closed == BLOCK || (!known && builder->source->all.code[at] == '}');
}

/* Removes the mark by which a statement goes on, with the blank before it. */
static void drop_last(struct builder *builder)
{
	size_t size = builder->text.used - 1;

	size -= size && is_blank(builder->code.data[size - 1]);
	cut(&builder->text, size);
	cut(&builder->code, size);
	cut(&builder->key, builder->key.used - 1);
}

static void read_newline(struct builder *builder, size_t at)
{
	struct source *source = builder->source;
	bool python = source->language == DETECT_PYTHON;
	char last = last_of(&builder->code);
	size_t next = next_code(source, at);
	bool goes_on =
		python ? last == '\\'
		       : is_continuation(source, next) ||
				 (builder->code.used &&
				  is_unfinished(&(struct source){ .all.code = builder->code.data },
						builder->code.used - 1));
	enum group inside = group(builder);

	if (source->language == DETECT_C && *begun(builder) == '#')
		goes_on = last == '\\';
	if ((inside == BLOCK || inside == KEYED) && !(python && builder->depth) && !goes_on)
		end_statement(builder);
	if (last == '\\' && !is_empty(builder))
		drop_last(builder);
	builder->blank = is_empty(builder) ? NO_BLANK : NEW_LINE;
}

/* Adds the comment that begins here, up to the end of the line, as a statement before this one. */
static size_t read_comment(struct builder *builder, size_t at)
{
	const struct detect_source *all = &builder->source->all;
	size_t end = at;
	struct builder comment = { .source = builder->source,
				   .lines = builder->lines,
				   .number = builder->line,
				   .indent = builder->line_indent };

	while (end < all->size && all->text[end] != '\n' && is_blank(all->code[end]))
		end++;
	while (end > at && is_blank(all->text[end - 1]))
		end--;
	size_t size = end - at < MOST_COLUMNS ? end - at : MOST_COLUMNS;
	AUTO_FREE char *text = mem_format("%.*s", (int)size, all->text + at);
	AUTO_FREE char *code = mem_format("%*s", (int)size, "");

	add_statement(&comment, text, code, text);
	return end;
}

static void begin_line(struct builder *builder, size_t at)
{
	builder->line++;
	builder->line_indent = strspn(builder->source->all.text + at, " \t");
	builder->line_depth = builder->depth;
	builder->line_count = builder->lines->count;
}

/* Reads the code at `at`, and returns where it goes on. */
static size_t read_code(struct builder *builder, size_t at)
{
	char character = builder->source->all.code[at];
	size_t string = string_end(builder->source, at);
	size_t end = string > at ? string : do_end(builder, at);

	if (strchr(")]}", character)) {
		read_closing(builder, at);
		return at + 1;
	}
	if (ends_before(builder, at))
		end_statement(builder);
	if (strchr("([{", character)) {
		return read_opening(builder, at);
	}
	if (end > at) {
		add(builder, at, end);
		if (string <= at)
			end_statement(builder);
		return end;
	}
	add(builder, at, at + 1);
	if (ends_after(builder, at)) {
		if (character == '>')
			builder->levels[builder->depth - 1].group = BLOCK;
		end_statement(builder);
	}
	return at + 1;
}

static void read_all(struct builder *builder)
{
	const struct detect_source *all = &builder->source->all;

	begin_line(builder, 0);
	for (size_t at = 0; at < all->size;) {
		if (all->code[at] == '\n') {
			read_newline(builder, at);
			begin_line(builder, ++at);
		} else if (!is_blank(all->code[at])) {
			size_t end = read_code(builder, at);

			for (; at < end; at++)
				builder->line += all->text[at] == '\n';
		} else if (!is_blank(all->text[at])) {
			at = read_comment(builder, at);
			builder->blank = is_empty(builder) ? NO_BLANK : NEW_LINE;
		} else {
			builder->blank = is_empty(builder) || builder->blank == NEW_LINE
						 ? builder->blank
						 : BLANK;
			at++;
		}
	}
	end_statement(builder);
}

void detect_statements_read(const struct detect_text *text, enum detect_language language,
			    struct detect_lines *ret_statements)
{
	struct source source = { .language = language };
	struct builder builder = { .source = &source,
				   .lines = ret_statements,
				   .text = BUFFER_INIT(SIZE_MAX / 2),
				   .code = BUFFER_INIT(SIZE_MAX / 2),
				   .key = BUFFER_INIT(SIZE_MAX / 2) };

	if (language == DETECT_OTHER) {
		detect_lines_read(text, language, ret_statements);
		return;
	}
	detect_lines_init(ret_statements, text->size);
	if (!detect_lines_source(text, language, &source.all))
		return;
	source.groups = mem_zero(source.all.size + 1);
	find_groups(&source);
	source.next = 0;
	read_all(&builder);
	buffer_release(&builder.text);
	buffer_release(&builder.code);
	buffer_release(&builder.key);
	free(builder.levels);
	free(source.groups);
	detect_lines_source_release(&source.all);
}
