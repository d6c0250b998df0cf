/* Splits a stream into lines: see agent_reader.h. */
#include "agent/agent_reader.h"

#include <string.h>

static void emit_line(struct agent_reader_lines *lines, agent_reader_line_fn *fn,
		      struct agent_reader *reader)
{
	if (lines->over)
		fn(reader, NULL, 0);
	else
		fn(reader, buffer_text(&lines->line), lines->line.used);
	lines->over = false;
	lines->line.used = 0;
	if (lines->line.room > 1 << 16) /* do not keep the memory of a rare long line */
		buffer_release(&lines->line);
}

static void append(struct agent_reader_lines *lines, const char *data, size_t size)
{
	if (lines->over || lines->line.used + size > AGENT_LINE_MAX) {
		lines->over = true;
		lines->line.used = 0;
		return;
	}
	buffer_add(&lines->line, data, size);
}

void agent_reader_lines_feed(struct agent_reader_lines *lines, const char *data, size_t size,
			     agent_reader_line_fn *fn, struct agent_reader *reader)
{
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t part = end ? (size_t)(end - data) : size;

		if (end && !lines->over && !lines->line.used && part <= AGENT_LINE_MAX) {
			fn(reader, data, part); /* usual case: a whole line, no copy needed */
		} else {
			append(lines, data, part);
			if (!end)
				return;
			emit_line(lines, fn, reader);
		}
		data += part + 1;
		size -= part + 1;
	}
}

void agent_reader_lines_end(struct agent_reader_lines *lines, agent_reader_line_fn *fn,
			    struct agent_reader *reader)
{
	if (lines->over || lines->line.used)
		emit_line(lines, fn, reader);
}
