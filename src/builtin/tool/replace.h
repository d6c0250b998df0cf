/*
 * An exact text of a file becomes another one. What is not found is compared with what is there, so that the one who asked can
 * see the difference. Pure functions on foreign bytes.
 */
#ifndef BUILTIN_TOOL_REPLACE_H
#define BUILTIN_TOOL_REPLACE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

struct replace_span {
	const char *at;
	size_t size;
};

struct replace {
	struct replace_span what; /* not empty */
	struct replace_span with;
	bool all; /* every place; else there must be one */
};

/* Appends the file with the change made. *ret_count: how many places, *ret_line: the first. `name` is what the file is called in
 * a message. Returns 0, or -1 with err set. */
int replace_text(const char *name, struct replace_span file, const struct replace *change,
		 struct buffer *out, size_t *ret_count, size_t *ret_line, struct error *err);

#endif
