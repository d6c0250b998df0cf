/*
 * Something that is done in a process of its own, of whose output the beginning and the end are kept.
 *
 * It ends when that process has ended, however many others hold its output open. All that it has left behind is killed then,
 * in whatever group or session that is.
 */
#ifndef BUILTIN_TOOL_CHILD_H
#define BUILTIN_TOOL_CHILD_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct child_work {
	int (*run)(
		void *context); /* in the new process; prints on stdout and stderr, returns its status */
	void *context;
	uint64_t most_ms;
	uint64_t most_bytes; /* that it may print */
	size_t head, tail;   /* bytes that are kept */
	void (*tick)(void);  /* called now and then while it takes; NULL: nobody wants to know */
};

struct child_end {
	int status;   /* as of wait() */
	bool late;    /* it took too long, and was killed */
	bool flooded; /* it printed too much, and was killed */
};

/* Returns 0, or -1 with err set. */
int child_do(const struct child_work *work, struct buffer *out, struct child_end *ret_end,
	     struct error *err);

#endif
