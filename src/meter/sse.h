/*
 * A parser for server-sent events that arrive in pieces.
 *
 * It stores nothing: data is passed on as it arrives. Lines end with LF, CR or both.
 */
#ifndef METER_SSE_H
#define METER_SSE_H

#include <stdbool.h>
#include <stddef.h>

enum { SSE_FIELD = 8 };

struct sse {
	void (*data)(void *context, const char *bytes, size_t size);
	/* Called at a blank line, which ends an event. `at`: how many of the bytes being fed
	 * belong to it. */
	void (*end)(void *context, size_t at);
	void *context;

	unsigned int state;
	char field[SSE_FIELD]; /* the line's field name, as far as read */
	size_t used;
	bool after_cr;
	bool begun; /* past a possible byte order mark */
};

void sse_feed(struct sse *sse, const char *bytes, size_t size);

#endif
