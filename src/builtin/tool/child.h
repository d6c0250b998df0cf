/*
 * Runs a function in its own process and keeps the beginning and the end of its output.
 *
 * The call ends with that process, even if others still hold its output open. All its descendants
 * are killed then, in whatever group or session they are.
 */
#ifndef BUILTIN_TOOL_CHILD_H
#define BUILTIN_TOOL_CHILD_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct child_work {
	int (*run)(
		/* runs in the child; prints to stdout and stderr, returns the exit status */
		void *context);
	void *context;
	uint64_t most_ms;
	uint64_t most_bytes; /* most output */
	size_t head, tail;   /* bytes to keep */
	void (*tick)(void);  /* called now and then while output arrives, or NULL */
};

struct child_end {
	int status;   /* as from wait() */
	bool late;    /* killed by the timeout */
	bool flooded; /* killed because it printed too much */
};

/* Returns 0, or -1 with err set. */
int child_run(const struct child_work *work, struct buffer *out, struct child_end *ret_end,
	      struct error *err);

#endif
