/*
 * Server-sent events that come in pieces: where the data of an event is, and where an event ends.
 *
 * Nothing is kept: data goes on as it comes. Lines end with LF, CR or both.
 */
#ifndef METER_SSE_H
#define METER_SSE_H

#include <stdbool.h>
#include <stddef.h>

enum { SSE_FIELD = 8 };

struct sse {
	void (*data)(void *context, const char *bytes, size_t size);
	/* A blank line. at: how many of the bytes that are being fed belong to what is over now. */
	void (*end)(void *context, size_t at);
	void *context;

	unsigned int state;
	char field[SSE_FIELD]; /* of the line, as far as it is there */
	size_t used;
	bool after_cr;
	bool begun; /* behind what may be a byte order mark */
};

void sse_feed(struct sse *sse, const char *bytes, size_t size);

#endif
