/* Messages of the user: see told.h. */
#include "decision/told.h"

#include "decision/lines.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdbool.h>
#include <string.h>

#define CUT " [...]"

/* Appends a cleaned line without the space at its end. */
static void add_line(const struct lines_line *line, struct buffer *out)
{
	size_t room = 3 * line->size + 1; /* a byte that is not UTF-8 becomes three */
	AUTO_FREE char *clean = mem_alloc(room);
	size_t size = lines_clean(line, clean, room, NULL);

	while (size > 0 && clean[size - 1] == ' ')
		size--;
	if (size > 0 || out->used > 0) {
		buffer_add(out, clean, size);
		buffer_add_text(out, "\n");
	}
}

char *told_clean(const char *bytes, size_t size, struct error *err)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4 * TOLD_BYTES);
	const char *at = bytes;
	struct lines_line line;

	while (size <= TOLD_BYTES && lines_next(&at, bytes + size, &line))
		add_line(&line, &out);
	while (out.used > 0 && out.data[out.used - 1] == '\n')
		out.used--;
	if (size > TOLD_BYTES || out.used > TOLD_BYTES) {
		error_with(
			err, ERROR_INVALID,
			"a message may have %d bytes, and this one has %s%zu: put the rest into a "
			"file that the agent can read",
			TOLD_BYTES, size > TOLD_BYTES ? "" : "after cleaning ",
			size > TOLD_BYTES ? size : out.used);
		return NULL;
	}
	if (out.used == 0) {
		error_with(err, ERROR_INVALID, "the message is empty");
		return NULL;
	}
	return mem_format("%.*s", (int)out.used, out.data);
}

void told_quote(const char *text, struct buffer *out)
{
	const char *at = text;
	struct lines_line line;

	while (lines_next(&at, text + strlen(text), &line))
		buffer_printf(out, ">%s%.*s\n", line.size ? " " : "", (int)line.size, line.text);
}

size_t told_shorten(const char *text, char *out, size_t room)
{
	size_t most = strlen(text) + 3;
	AUTO_FREE char *whole = mem_alloc(most);
	size_t size = lines_join(text, strlen(text), whole, most);
	bool cut = size >= room;

	if (cut)
		size = text_first(whole, size, room - sizeof CUT);
	memcpy(out, whole, size);
	memcpy(out + size, cut ? CUT : "", cut ? sizeof CUT : 1);
	return size + (cut ? sizeof CUT - 1 : 0);
}
