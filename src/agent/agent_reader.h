/*
 * Shared by all readers: their common base, and a splitter of untrusted bytes into bounded lines.
 */
#ifndef AGENT_AGENT_READER_H
#define AGENT_AGENT_READER_H

#include "agent/agent.h"
#include "util/buffer.h"

/* The first member of each format's reader; agent_reader_new() sets `format`. */
struct agent_reader {
	const struct agent_format *format;
	agent_event_fn *fn;
	void *context;
	struct agent_totals before; /* the session's usage as last reported */
};

extern const struct agent_format agent_format_plain, agent_format_events, agent_format_claude,
	agent_format_codex, agent_format_gemini, agent_format_opencode;

struct agent_reader_lines {
	struct buffer line;
	bool over; /* the current line is too long; skip the rest */
};

#define AGENT_READER_LINES_INIT \
	((struct agent_reader_lines){ .line = BUFFER_INIT(AGENT_LINE_MAX + 1) })

/*
 * Called with each line, without its newline and not NUL-terminated. A line that was too long is
 * NULL.
 */
typedef void agent_reader_line_fn(struct agent_reader *reader, const char *line, size_t size);

void agent_reader_lines_feed(struct agent_reader_lines *lines, const char *data, size_t size,
			     agent_reader_line_fn *fn, struct agent_reader *reader);

/* Passes on an unterminated last line when the stream ends. */
void agent_reader_lines_end(struct agent_reader_lines *lines, agent_reader_line_fn *fn,
			    struct agent_reader *reader);

#endif
