/* Runs a program to its end, and takes what it prints. */
#ifndef UTIL_PROGRAM_H
#define UTIL_PROGRAM_H

#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stdint.h>

struct program_run {
	const char *path;               /* of the program */
	const struct list *arguments;   /* without the name of the program */
	const struct list *environment; /* complete */
	const char *input;              /* or NULL */
	uint64_t most_ms;
	/* It shares the terminal of this process: it may ask there, and Ctrl-C ends it. Otherwise
	 * it has none. */
	bool terminal;
	struct buffer *output, *errors; /* may be the same */
	/* Gets all that it prints, as it comes; or NULL. */
	void (*heard)(void *context, const char *bytes, size_t size);
	void *context;
};

/* Returns the exit status, or -1 with err set if it could not be run, or not to its end in time. */
int program_run(const struct program_run *run, struct error *err);

#endif
