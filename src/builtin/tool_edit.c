/* The tool edit: an exact text of a file becomes another one. What is not found is compared with what is there. */
#include "builtin/beneath.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FILE_BYTES = 16 << 20,
	QUOTED = 160,    /* bytes of a line that is quoted */
	COMPARED = 4000, /* lines that are compared letter by letter */
	NAMED = 5,       /* places that are named */
};

struct span {
	const char *at;
	size_t size;
};

static size_t count(struct span text, struct span what)
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

static size_t line_of(struct span text, const char *at)
{
	size_t line = 1;

	for (const char *end = text.at; (end = memchr(end, '\n', (size_t)(at - end))); end++)
		line++;
	return line;
}

/* The next line, without its end. */
static bool next_line(struct span *text, struct span *ret_line)
{
	const char *end = text->size ? memchr(text->at, '\n', text->size) : NULL;

	if (!text->size)
		return false;
	*ret_line = (struct span){ text->at, end ? (size_t)(end - text->at) : text->size };
	text->at += ret_line->size + (end != NULL);
	text->size -= ret_line->size + (end != NULL);
	return true;
}

static struct span trimmed(struct span line)
{
	while (line.size && strchr(" \t\r", line.at[0]) && line.at[0]) {
		line.at++;
		line.size--;
	}
	while (line.size && strchr(" \t\r", line.at[line.size - 1]) && line.at[line.size - 1])
		line.size--;
	return line;
}

static bool same(struct span a, struct span b)
{
	return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* How many lines agree from here on, but for blanks at their ends. */
static size_t agreeing(struct span file, struct span wanted)
{
	size_t lines = 0;
	struct span a;
	struct span b;

	while (next_line(&file, &a) && next_line(&wanted, &b) && same(trimmed(a), trimmed(b)))
		lines++;
	return lines;
}

static char *quote(struct span line)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8 * QUOTED);

	text_escape_bytes(&text, line.at, line.size < QUOTED ? line.size : QUOTED);
	return mem_dup(buffer_text(&text));
}

/* The line that is most like this one; 0: none is. */
static size_t most_like(struct span file, struct span wanted, struct span *ret_line)
{
	AUTO_FREE char *text = quote(trimmed(wanted));
	size_t best = strlen(text) / 2 + 1;
	size_t found = 0;
	struct span line;

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

static int explain_missing(const char *path, struct span file, struct span wanted,
			   struct error *err)
{
	struct span rest = file;
	struct span line;
	struct span first;
	struct span start = wanted;
	size_t best = 0;
	size_t best_line = 0;
	struct span best_at = { 0 };

	for (size_t number = 1; rest.size; number++) {
		struct span here = rest;
		size_t lines = agreeing(here, wanted);

		if (!next_line(&rest, &line))
			break;
		if (lines > best) {
			best = lines;
			best_line = number;
			best_at = here;
		}
	}
	if (best == 0) {
		if (!next_line(&start, &first))
			first = wanted;
		best_line = most_like(file, first, &line);
		if (!best_line)
			return error_set(
				err,
				"this text is not in '%s', nor anything like its first line: read the file again",
				path);

		AUTO_FREE char *has = quote(line);
		AUTO_FREE char *given = quote(first);

		return error_set(
			err,
			"this text is not in '%s'. The nearest is line %zu, which is\n%s\nand not\n%s",
			path, best_line, has, given);
	}
	/* The first line that differs at all: by blanks, or behind those that agree. */
	for (size_t i = 0; next_line(&best_at, &line) && next_line(&start, &first); i++) {
		if (same(line, first) && i < best)
			continue;

		AUTO_FREE char *has = quote(line);
		AUTO_FREE char *given = quote(first);

		return error_set(
			err,
			"this text is not in '%s'. The nearest begins at line %zu and differs in line %zu, which is\n%s\nand not\n%s%s",
			path, best_line, best_line + i, has, given,
			same(trimmed(line), trimmed(first)) ? "\n(only blanks differ)" : "");
	}
	return error_set(
		err, "this text is not in '%s'. The nearest begins at line %zu; it ends otherwise",
		path, best_line);
}

static int explain_many(const char *path, struct span file, struct span what, size_t found,
			struct error *err)
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
		"this text is in '%s' %zu times (lines %s%s): give more of what is around the one that is meant, or "
		"set replace_all",
		path, found, buffer_text(&lines), found > NAMED ? ", ..." : "");
}

/* A file with CR LF, and a text without: what is meant is clear. */
static char *with_crlf(struct span text, size_t *ret_size)
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

static void replace(struct span file, struct span what, struct span with, struct buffer *out)
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

static int change(struct bench *bench, const char *path, int fd, struct span what, struct span with,
		  bool all, struct buffer *out, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(FILE_BYTES);
	AUTO_BUFFER struct buffer made = BUFFER_INIT(4 * FILE_BYTES);
	AUTO_FREE char *what_crlf = NULL;
	AUTO_FREE char *with_other = NULL;
	AUTO_FREE char *shown = text_escaped(path);
	struct span file;
	size_t found;

	if (strlen(shown) > 500)
		shown[500] = '\0';
	if (fd_read_all(fd, &bytes) < 0)
		return error_sys(err, "read '%s'", shown);
	file = (struct span){ buffer_text(&bytes), bytes.used };
	found = count(file, what);
	if (found == 0 && memmem(file.at, file.size, "\r\n", 2) &&
	    !memchr(what.at, '\r', what.size)) {
		what_crlf = with_crlf(what, &what.size);
		with_other = with_crlf(with, &with.size);
		what.at = what_crlf;
		with.at = with_other;
		found = count(file, what);
	}
	if (found == 0)
		return explain_missing(shown, file, what, err);
	if (found > 1 && !all)
		return explain_many(shown, file, what, found, err);

	size_t line = line_of(file, memmem(file.at, file.size, what.at, what.size));

	replace(file, what, with, &made);
	if (buffer_overflowed(&made))
		return error_set(err, "'%s' would become too large", shown);
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    fd_write_all(fd, buffer_text(&made), made.used) < 0)
		return error_sys(err, "write '%s', of which only a part is there now", shown);
	list_add(&bench->files, path);
	buffer_printf(out, "edited '%s': %zu place%s, the first in line %zu", shown, found,
		      found == 1 ? "" : "s", line);
	return 0;
}

static int run_edit(struct bench *bench, const json_t *arguments, struct buffer *out,
		    struct error *err)
{
	const char *given;
	const char *text;
	AUTO_FREE char *path = NULL;
	struct stat status;
	AUTO_FD fd = -1;

	if (tool_text(arguments, "path", &given, err) < 0 ||
	    tool_text(arguments, "old", &text, err) < 0 ||
	    tool_text(arguments, "new", &text, err) < 0 ||
	    beneath_path(bench, given, &path, err) < 0)
		return -1;

	const json_t *old = json_object_get(arguments, "old");
	const json_t *new = json_object_get(arguments, "new");
	struct span what = { json_string_value(old), json_string_length(old) };
	struct span with = { json_string_value(new), json_string_length(new) };

	if (what.size == 0)
		return error_set(err, "'old' is empty: to make a file, use write");
	if (same(what, with))
		return error_set(err, "'old' and 'new' are the same: nothing would change");
	fd = beneath_open_file(bench, path, O_RDWR, &status, err);
	if (fd < 0)
		return -1;
	if (status.st_size > FILE_BYTES)
		return error_set(err, "the file is larger than %d MiB: use the shell",
				 FILE_BYTES >> 20);
	return change(bench, path, fd, what, with, tool_flag(arguments, "replace_all"), out, err);
}

TOOL_COMPLETE
const struct tool tool_edit = {
	/* name */ "edit",
	/* about */
	"Changes a file of the project: the exact text `old`, with its blanks and line ends but without line numbers, "
	"becomes `new`. It must be there once; with replace_all every place is changed.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"relative to the project's "
	"root\"},\"old\":{\"type\":\"string\",\"description\":\"what is there now\"},\"new\":{\"type\":\"string\",\"description\":\"what "
	"is to be there instead\"},\"replace_all\":{\"type\":\"boolean\"}},\"required\":[\"path\",\"old\",\"new\"]}",
	/* target */ "path",
	/* run */ run_edit,
};
