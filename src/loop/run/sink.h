/*
 * The output of an agent or a check: a log with a size limit, and head and tail in memory. No
 * amount of output exceeds that.
 */
#ifndef LOOP_RUN_SINK_H
#define LOOP_RUN_SINK_H

#include "util/buffer.h"

#include <stdint.h>

enum {
	SINK_HEAD = 128 << 10,
	SINK_TAIL = 128 << 10,
	SINK_LOG = 64 << 20, /* of a log; a last line reports that the rest is left out */
};

struct sink {
	int fd;  /* to read from; -1 at the end */
	int log; /* or -1 */
	/* Also receives the bytes, or NULL. */
	void (*tap)(void *context, const char *bytes, size_t size);
	void *context;
	uint64_t bytes;
	struct buffer head;
	char *tail; /* a ring */
	size_t tail_at;
};

/* Starts reading from fd and creates the log at path. The sink owns both. */
void sink_open(struct sink *sink, int fd, const char *path);

/* Reads available output. Returns false at the end. */
bool sink_serve(struct sink *sink);

/* Returns the kept output: head and tail. */
void sink_text(const struct sink *sink, struct buffer *ret_text);

/* Returns the last `size` bytes of the kept output. */
void sink_last(const struct sink *sink, size_t size, struct buffer *ret_text);

void sink_release(struct sink *sink);

#endif
