/*
 * The work of a loop's agents, from their transcripts and from the fence's report of each run: tool
 * by tool, with targets; changed files; hosts; denials.
 *
 * The newest transcripts are read first, up to a number of bytes. All lists have a maximum, and say
 * how much found no place. Texts are untrusted, and not escaped.
 */
#ifndef VIEW_VIEW_TOOLS_H
#define VIEW_VIEW_TOOLS_H

#include "view/view_iterations.h"
#include "view/view_names.h"

enum {
	VIEW_TOOLS_MOST = 100,     /* tools */
	VIEW_TOOLS_TARGETS = 4000, /* targets of all tools; files; denials */
	VIEW_TOOLS_HOSTS = 500,
};

struct view_host {
	uint64_t connections, refusals, bytes_in, bytes_out;
};

struct view_tools {
	struct view_names tools;   /* the count: calls */
	uint64_t *errors;          /* of each tool: calls that failed */
	struct view_names targets; /* a path or a command; the group: its tool's index */
	struct view_names files;   /* that a tool has changed; the count: how often */
	struct view_names hosts;   /* HOST:PORT; the count: connections and refusals */
	struct view_host *traffic; /* of each host */
	/* "KIND TARGET"; the count: attempts; the group: an index of `rules` */
	struct view_names denials;
	struct view_names rules;     /* that denied them */
	uint64_t cpu_ms, peak_bytes; /* of all runs; of the largest */
	size_t unread;               /* transcripts beyond the number of bytes */
	size_t untold;               /* transcripts of agents that print no events */
};

/* Reads at most this many bytes of transcripts. */
void view_tools_read(const struct client_loop *loop, const struct view_iterations *iterations,
		     uint64_t most_bytes, struct view_tools *ret_tools);
void view_tools_release(struct view_tools *tools);

#endif
