/* The edit tool. */
#include "builtin/tool/beneath.h"
#include "builtin/tool/replace.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 16 << 20, NAME = 500 };

static int change_file(struct tool_context *ctx, const char *path, int fd,
		       const struct replace *change, struct buffer *out, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(FILE_BYTES);
	AUTO_BUFFER struct buffer made = BUFFER_INIT(4 * FILE_BYTES);
	AUTO_FREE char *shown = text_escaped(path);
	size_t places;
	size_t line;

	if (strlen(shown) > NAME)
		shown[NAME] = '\0';
	if (fd_read_all(fd, &bytes) < 0)
		return error_sys(err, "read '%s'", shown);
	if (replace_text(shown, (struct replace_span){ buffer_text(&bytes), bytes.used }, change,
			 &made, &places, &line, err) < 0)
		return -1;
	if (buffer_overflowed(&made))
		return error_set(err, "'%s' would become too large", shown);
	if (beneath_fill(fd, shown, buffer_text(&made), made.used, err) < 0)
		return -1;
	list_add(&ctx->files, path);
	buffer_printf(out, "edited '%s': %zu replacement%s, the first in line %zu", shown, places,
		      places == 1 ? "" : "s", line);
	return 0;
}

static int run_edit(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
		    struct error *err)
{
	const char *given;
	const char *text;
	AUTO_FREE char *path = NULL;
	struct stat status;
	AUTO_FD fd = -1;

	if (tool_text(arguments, "path", &given, err) < 0 ||
	    tool_text(arguments, "old", &text, err) < 0 ||
	    tool_text(arguments, "new", &text, err) < 0 || beneath_path(ctx, given, &path, err) < 0)
		return -1;

	const json_t *old = json_object_get(arguments, "old");
	const json_t *new = json_object_get(arguments, "new");
	const struct replace change = {
		.what = { json_string_value(old), json_string_length(old) },
		.with = { json_string_value(new), json_string_length(new) },
		.all = tool_flag(arguments, "replace_all"),
	};

	if (change.what.size == 0)
		return error_set(err, "'old' is empty; to create a file, use write");
	if (json_equal(old, new))
		return error_set(err, "'old' and 'new' are identical");
	fd = beneath_open_file(ctx, path, O_RDWR, &status, err);
	if (fd < 0)
		return -1;
	if (status.st_size > FILE_BYTES)
		return error_set(err, "the file is larger than %d MiB: use the shell",
				 FILE_BYTES >> 20);
	return change_file(ctx, path, fd, &change, out, err);
}

TOOL_COMPLETE
const struct tool tool_edit = {
	/* name */ "edit",
	/* about */
	"Replaces text in a file: the exact text `old`, including its white space and line breaks but without line "
	"numbers, becomes `new`. `old` must occur exactly once, unless replace_all is set.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"relative to the project "
	"root\"},\"old\":{\"type\":\"string\",\"description\":\"the text to replace\"},\"new\":{\"type\":\"string\",\"description\":\"the "
	"replacement\"},\"replace_all\":{\"type\":\"boolean\"}},\"required\":[\"path\",\"old\",\"new\"]}",
	/* target */ "path",
	/* files */ true,
	/* run */ run_edit,
};
