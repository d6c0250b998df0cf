/* The output of an agent that prints plain text, shown as it comes: each line of stdout and stderr
 * after a bar, so that none can pose as a line of Ringfence's. */
#ifndef CLI_VIEW_AGENT_LINES_H
#define CLI_VIEW_AGENT_LINES_H

#include "cli/view/color.h"
#include "loop/client.h"
#include "util/buffer.h"

#include <sys/types.h>

/* Receives a line without its newline, not escaped, and the indent of its continuation. */
typedef void agent_lines_fn(void *context, enum color colour, const char *line, int indent);

/* One log that grows. */
struct agent_lines_log {
	char *path;
	off_t at;
	struct buffer line; /* the incomplete one */
};

struct agent_lines {
	agent_lines_fn *print;
	void *context;
	struct agent_lines_log logs[2];
	bool open;
	unsigned int budget; /* lines that may still be printed in this poll */
	uint64_t dropped;    /* lines that were not */
};

/* Starts to follow the output of an iteration; passes over what is there already; prints new
 * output; prints the rest and stops. */
void agent_lines_begin(struct agent_lines *lines, const struct client_loop *loop,
		       unsigned int iteration, unsigned int attempt);
void agent_lines_skip(struct agent_lines *lines);
void agent_lines_poll(struct agent_lines *lines);
void agent_lines_end(struct agent_lines *lines);

#endif
