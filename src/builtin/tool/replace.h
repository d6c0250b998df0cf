/*
 * Replaces exact text in a file. If the text is not found, the error shows the most similar place
 * and how it differs. Pure functions on untrusted bytes.
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
	bool all; /* replace all occurrences; else there must be exactly one */
};

/*
 * Appends the changed file. Returns 0 with the number of replacements and the line of the first
 * one, or -1 with err set. `name` names the file in messages.
 */
int replace_text(const char *name, struct replace_span file, const struct replace *change,
		 struct buffer *out, size_t *ret_count, size_t *ret_line, struct error *err);

#endif
