/*
 * Where the output of an agent or a check goes: a log with a bound, and its beginning and end in memory.
 * However much comes, no more than that is kept.
 */
#ifndef LOOP_RUN_SINK_H
#define LOOP_RUN_SINK_H

#include "util/buffer.h"

#include <stdint.h>

enum {
	SINK_HEAD = 128 << 10,
	SINK_TAIL = 128 << 10,
	SINK_LOG = 64 << 20, /* of a log; then one line says that the rest is left out */
};

struct sink {
	int fd;  /* to read from; -1: it has ended */
	int log; /* -1: none */
	/* Gets the bytes, too; NULL: nobody does. */
	void (*tap)(void *context, const char *bytes, size_t size);
	void *context;
	uint64_t bytes;
	struct buffer head;
	char *tail; /* a ring */
	size_t tail_at;
};

/* Begins to take from fd; the log is made at path. Both are the sink's. */
void sink_open(struct sink *sink, int fd, const char *path);

/* Takes what is there. False when it has ended. */
bool sink_serve(struct sink *sink);

/* What was said, as far as it is kept: beginning and end. */
void sink_text(const struct sink *sink, struct buffer *ret_text);

/* The last `size` bytes, as far as they are kept. */
void sink_last(const struct sink *sink, size_t size, struct buffer *ret_text);

void sink_release(struct sink *sink);

#endif
