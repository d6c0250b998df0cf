/*
 * An exact text of a file becomes another one. What is not found is compared with what is there, so that the one who asked can
 * see the difference. Pure functions on foreign bytes.
 */
#ifndef BUILTIN_CHANGE_H
#define BUILTIN_CHANGE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *at;
	size_t size;
};

struct change {
	struct span what; /* not empty */
	struct span with;
	bool all; /* every place; else there must be one */
};

/* Appends the file with the change made. *ret_count: how many places, *ret_line: the first. `name` is what the file is called in
 * a message. Returns 0, or -1 with err set. */
int change_make(const char *name, struct span file, const struct change *change, struct buffer *out,
		size_t *ret_count, size_t *ret_line, struct error *err);

#endif
