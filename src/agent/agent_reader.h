/*
 * For readers: what every one begins with, and lines of foreign bytes, each at most so long.
 */
#ifndef AGENT_AGENT_READER_H
#define AGENT_AGENT_READER_H

#include "agent/agent.h"
#include "util/buffer.h"

/* The first member of what a format's open() makes; agent_reader_new() fills in the format. */
struct agent_reader {
	const struct agent_format *format;
	agent_event_fn *fn;
	void *context;
	struct agent_totals
		before; /* what this session had used already, and then what was reported last */
};

extern const struct agent_format agent_format_plain, agent_format_events, agent_format_claude,
	agent_format_codex, agent_format_gemini, agent_format_opencode;

struct agent_reader_lines {
	struct buffer line;
	bool over; /* this one is too long, and is passed over to its end */
};

#define AGENT_READER_LINES_INIT \
	((struct agent_reader_lines){ .line = BUFFER_INIT(AGENT_LINE_MAX + 1) })

/* Called for each line, without its end; nothing is behind the size. NULL: one that was too long. */
typedef void agent_reader_line_fn(struct agent_reader *reader, const char *line, size_t size);

void agent_reader_lines_feed(struct agent_reader_lines *lines, const char *data, size_t size,
			     agent_reader_line_fn *fn, struct agent_reader *reader);

/* What is left when the stream ends. */
void agent_reader_lines_end(struct agent_reader_lines *lines, agent_reader_line_fn *fn,
			    struct agent_reader *reader);

#endif
