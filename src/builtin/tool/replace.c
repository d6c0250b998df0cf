/* Replaces text in a file: see replace.h. */
#include "builtin/tool/replace.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum {
	QUOTED = 160,    /* most bytes quoted from a line */
	COMPARED = 4000, /* most lines compared character by character */
	NAMED = 5,       /* most places named */
};

static size_t count(struct replace_span text, struct replace_span what)
{
	size_t found = 0;
	const char *at = text.at;
	const char *stop = text.at + text.size;

	while ((at = memmem(at, (size_t)(stop - at), what.at, what.size))) {
		found++;
		at += what.size;
	}
	return found;
}

static size_t line_of(struct replace_span text, const char *at)
{
	size_t line = 1;

	for (const char *end = text.at; (end = memchr(end, '\n', (size_t)(at - end))); end++)
		line++;
	return line;
}

/* Returns the next line, without its newline. */
static bool next_line(struct replace_span *text, struct replace_span *ret_line)
{
	const char *end = text->size ? memchr(text->at, '\n', text->size) : NULL;

	if (!text->size)
		return false;
	*ret_line = (struct replace_span){ text->at, end ? (size_t)(end - text->at) : text->size };
	text->at += ret_line->size + (end != NULL);
	text->size -= ret_line->size + (end != NULL);
	return true;
}

static struct replace_span trimmed(struct replace_span line)
{
	while (line.size && strchr(" \t\r", line.at[0]) && line.at[0]) {
		line.at++;
		line.size--;
	}
	while (line.size && strchr(" \t\r", line.at[line.size - 1]) && line.at[line.size - 1])
		line.size--;
	return line;
}

static bool same(struct replace_span a, struct replace_span b)
{
	return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* Returns how many lines match from here on, ignoring surrounding blanks. */
static size_t agreeing(struct replace_span file, struct replace_span wanted)
{
	size_t lines = 0;
	struct replace_span a;
	struct replace_span b;

	while (next_line(&file, &a) && next_line(&wanted, &b) && same(trimmed(a), trimmed(b)))
		lines++;
	return lines;
}

static char *quote(struct replace_span line)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8 * QUOTED);

	text_escape_bytes(&text, line.at, line.size < QUOTED ? line.size : QUOTED);
	return mem_dup(buffer_text(&text));
}

/* Returns the number of the line most similar to this one; 0 if no line is similar. */
static size_t most_like(struct replace_span file, struct replace_span wanted,
			struct replace_span *ret_line)
{
	AUTO_FREE char *text = quote(trimmed(wanted));
	size_t best = strlen(text) / 2 + 1;
	size_t found = 0;
	struct replace_span line;

	for (size_t number = 1; number <= COMPARED && next_line(&file, &line); number++) {
		AUTO_FREE char *other = quote(trimmed(line));
		size_t a = strlen(text);
		size_t b = strlen(other);
		size_t distance = a > b ? a - b : b - a;

		if (distance < best)
			distance = text_distance(text, other);
		if (distance >= best)
			continue;
		best = distance;
		found = number;
		*ret_line = line;
	}
	return found;
}

/* A place in the file whose lines match the beginning of the wanted text. */
struct match {
	size_t lines;  /* that match; 0: no such place */
	size_t number; /* of its first line */
	struct replace_span at;
};

static struct match best_match(struct replace_span file, struct replace_span wanted)
{
	struct match best = { 0 };
	struct replace_span rest = file;
	struct replace_span line;

	for (size_t number = 1; rest.size; number++) {
		struct replace_span here = rest;
		size_t lines = agreeing(here, wanted);

		if (!next_line(&rest, &line))
			break;
		if (lines > best.lines)
			best = (struct match){ lines, number, here };
	}
	return best;
}

static int explain_no_match(const char *path, struct replace_span file, struct replace_span wanted,
			    struct error *err)
{
	struct replace_span rest = wanted;
	struct replace_span first;
	struct replace_span line;
	size_t number;

	if (!next_line(&rest, &first))
		first = wanted;
	number = most_like(file, first, &line);
	if (!number)
		return error_set(
			err,
			"'%s' contains neither this text nor a line like its first one: read the file again",
			path);

	AUTO_FREE char *has = quote(line);
	AUTO_FREE char *given = quote(first);

	return error_set(
		err,
		"this text is not in '%s'. The most similar line is %zu, which reads\n%s\ninstead of\n%s",
		path, number, has, given);
}

static int explain_missing(const char *path, struct replace_span file, struct replace_span wanted,
			   struct error *err)
{
	struct match best = best_match(file, wanted);
	struct replace_span rest = wanted;
	struct replace_span line;
	struct replace_span expected;

	if (best.lines == 0)
		return explain_no_match(path, file, wanted, err);
	/* Find the first difference: in blanks only, or after the matching lines. */
	for (size_t i = 0; next_line(&best.at, &line) && next_line(&rest, &expected); i++) {
		if (same(line, expected) && i < best.lines)
			continue;

		AUTO_FREE char *has = quote(line);
		AUTO_FREE char *given = quote(expected);

		return error_set(
			err,
			"this text is not in '%s'. The best match starts at line %zu and differs in line %zu, which reads\n%s\ninstead of\n%s%s",
			path, best.number, best.number + i, has, given,
			same(trimmed(line), trimmed(expected)) ? "\n(only white space differs)"
							       : "");
	}
	return error_set(
		err,
		"this text is not in '%s'. The best match starts at line %zu, but ends differently",
		path, best.number);
}

static int explain_many(const char *path, struct replace_span file, struct replace_span what,
			size_t found, struct error *err)
{
	AUTO_BUFFER struct buffer lines = BUFFER_INIT(256);
	const char *at = file.at;

	for (size_t i = 0; i < NAMED && i < found; i++) {
		at = memmem(at, (size_t)(file.at + file.size - at), what.at, what.size);
		buffer_printf(&lines, "%s%zu", i ? ", " : "", line_of(file, at));
		at += what.size;
	}
	return error_set(
		err,
		"this text is in '%s' %zu times (lines %s%s): add surrounding lines to make it unique, or "
		"set replace_all",
		path, found, buffer_text(&lines), found > NAMED ? ", ..." : "");
}

/* Converts line ends, for a file with CR LF and a text without. */
static char *with_crlf(struct replace_span text, size_t *ret_size)
{
	char *out = mem_alloc(2 * text.size + 1);
	size_t used = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] == '\n')
			out[used++] = '\r';
		out[used++] = text.at[i];
	}
	*ret_size = used;
	return out;
}

static void replace(struct replace_span file, struct replace_span what, struct replace_span with,
		    struct buffer *out)
{
	const char *stop = file.at + file.size;
	const char *at = file.at;
	const char *found;

	while ((found = memmem(at, (size_t)(stop - at), what.at, what.size))) {
		buffer_add(out, at, (size_t)(found - at));
		buffer_add(out, with.at, with.size);
		at = found + what.size;
	}
	buffer_add(out, at, (size_t)(stop - at));
}

int replace_text(const char *name, struct replace_span file, const struct replace *change,
		 struct buffer *out, size_t *ret_count, size_t *ret_line, struct error *err)
{
	struct replace_span what = change->what;
	struct replace_span with = change->with;
	AUTO_FREE char *what_crlf = NULL;
	AUTO_FREE char *crlf = NULL;
	size_t found = count(file, what);

	if (found == 0 && memmem(file.at, file.size, "\r\n", 2) &&
	    !memchr(what.at, '\r', what.size)) {
		what_crlf = with_crlf(what, &what.size);
		crlf = with_crlf(with, &with.size);
		what.at = what_crlf;
		with.at = crlf;
		found = count(file, what);
	}
	if (found == 0)
		return explain_missing(name, file, change->what, err);
	if (found > 1 && !change->all)
		return explain_many(name, file, what, found, err);
	*ret_count = found;
	*ret_line = line_of(file, memmem(file.at, file.size, what.at, what.size));
	replace(file, what, with, out);
	return 0;
}
