/* The read and write tools. */
#include "builtin/tool/beneath.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINES = 2000,        /* most lines shown */
	COUNTED = 256 << 20, /* most bytes read from a file */
	PIECE = 64 << 10,
	LOOKED = 8192, /* a NUL in these first bytes means binary */
	SHOWN = 32,    /* bytes shown of a binary file */
};

/* The part of a file to show. */
struct view {
	struct buffer *out;
	long from, to; /* the lines to show */
	long line;     /* the current line, from 1 */
	size_t column; /* bytes of the line read so far */
	bool full;     /* the output is full, and `to` was lowered */
	bool open;     /* the line has been started in the output */
};

static void end_line(struct view *view)
{
	if (view->open) {
		if (view->column > TOOL_LINE)
			buffer_printf(view->out, " [%zu more bytes of this line]",
				      view->column - TOOL_LINE);
		buffer_add_text(view->out, "\n");
		if (view->out->used > TOOL_OUTPUT - 2 * TOOL_LINE && view->line < view->to) {
			view->full = true;
			view->to = view->line;
		}
	}
	view->open = false;
	view->column = 0;
	view->line++;
}

static void add_piece(struct view *view, const char *bytes, size_t size)
{
	size_t room = view->column < TOOL_LINE ? TOOL_LINE - view->column : 0;

	if (view->line >= view->from && view->line <= view->to) {
		if (!view->open)
			buffer_printf(view->out, "%ld\t", view->line);
		view->open = true;
		buffer_add(view->out, bytes, size < room ? size : room);
	}
	view->column += size;
}

static void add_bytes(struct view *view, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) : size;

		add_piece(view, bytes, length);
		if (end)
			end_line(view);
		bytes += length + (end != NULL);
		size -= length + (end != NULL);
	}
}

static void describe_binary(const char *bytes, size_t size, off_t whole, struct buffer *out)
{
	buffer_printf(out, "This is a binary file of %" PRId64 " bytes, starting with",
		      (int64_t)whole);
	for (size_t i = 0; i < size && i < SHOWN; i++)
		buffer_printf(out, " %02x", (unsigned char)bytes[i]);
	buffer_add_text(out, "\n");
}

static int show(int fd, const struct stat *status, struct view *view, struct error *err)
{
	AUTO_FREE char *piece = mem_alloc(PIECE);
	uint64_t sum = 0;
	ssize_t n;

	while (sum < COUNTED && (n = read(fd, piece, PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the file");
		if (sum == 0 && memchr(piece, '\0', (size_t)n < LOOKED ? (size_t)n : LOOKED)) {
			describe_binary(piece, (size_t)n, status->st_size, view->out);
			return 0;
		}
		add_bytes(view, piece, (size_t)n);
		sum += (uint64_t)n;
	}
	if (view->column)
		end_line(view);

	long lines = view->line - 1;

	if (lines == 0)
		buffer_add_text(view->out, "(the file is empty)\n");
	else if (view->from > lines)
		return error_set(err, "the file has only %ld lines", lines);
	else if (view->to < lines)
		buffer_printf(view->out, "[lines %ld to %ld of %ld%s; continue with offset %ld]\n",
			      view->from, view->to, lines, sum < COUNTED ? "" : " or more",
			      view->to + 1);
	return 0;
}

static int run_read(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
		    struct error *err)
{
	AUTO_FREE char *path = NULL;
	const char *given;
	struct stat status;
	long offset;
	long limit;
	AUTO_FD fd = -1;

	if (tool_text(arguments, "path", &given, err) < 0 ||
	    tool_number(arguments, "offset", 1, 1, 1L << 40, &offset, err) < 0 ||
	    tool_number(arguments, "limit", LINES, 1, LINES, &limit, err) < 0 ||
	    beneath_path(ctx, given, &path, err) < 0)
		return -1;
	fd = beneath_open_file(ctx, path, O_RDONLY, &status, err);
	if (fd < 0)
		return -1;

	struct view view = { .out = out, .from = offset, .to = offset + limit - 1, .line = 1 };

	return show(fd, &status, &view, err);
}

static int run_write(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
		     struct error *err)
{
	const json_t *content = json_object_get(arguments, "content");
	AUTO_FREE char *path = NULL;
	const char *given;
	struct stat status;
	AUTO_FD fd = -1;

	if (tool_text(arguments, "path", &given, err) < 0 ||
	    tool_text(arguments, "content", &(const char *){ NULL }, err) < 0 ||
	    beneath_path(ctx, given, &path, err) < 0 || beneath_make_folders(ctx, path, err) < 0)
		return -1;
	fd = beneath_open_file(ctx, path, O_WRONLY | O_CREAT, &status, err);
	if (fd < 0)
		return -1;

	AUTO_FREE char *shown = text_escaped(path);

	if (beneath_fill(fd, shown, json_string_value(content), json_string_length(content), err) <
	    0)
		return -1;
	list_add(&ctx->files, path);
	buffer_printf(out, "wrote '%.500s': %zu bytes", shown, json_string_length(content));
	return 0;
}

TOOL_COMPLETE
const struct tool tool_read = {
	/* name */ "read",
	/* about */
	"Reads a text file. Each line is shown as its number, a tab and its text; long lines are cut. Returns at most "
	"2000 lines: use offset (the first line, from 1) and limit (the number of lines) to see the rest. A binary "
	"file is only described.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"relative to the project "
	"root\"},\"offset\":{\"type\":\"integer\",\"description\":\"the first line, from 1\"},\"limit\":{\"type\":\"integer\","
	"\"description\":\"number of lines\"}},\"required\":[\"path\"]}",
	/* target */ "path",
	/* files */ true,
	/* run */ run_read,
};

const struct tool tool_write = {
	/* name */ "write",
	/* about */
	"Writes a whole file: creates it, with its parent folders, or replaces its contents. To change part of a file, "
	"use edit.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"relative to the project "
	"root\"},\"content\":{\"type\":\"string\",\"description\":\"the complete contents\"}},\"required\":[\"path\",\"content\"]}",
	/* target */ "path",
	/* files */ true,
	/* run */ run_write,
};
