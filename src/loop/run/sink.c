/* Sinks: see sink.h. */
#include "loop/run/sink.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sink_open(struct sink *sink, int fd, const char *path)
{
	*sink = (struct sink){ .fd = fd, .log = -1, .head = BUFFER_INIT(SINK_HEAD + 1) };
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	sink->tail = mem_alloc(SINK_TAIL);
	sink->log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void keep(struct sink *sink, const char *bytes, size_t size)
{
	size_t room = SINK_HEAD - sink->head.used;
	size_t first = size < room ? size : room;

	buffer_add(&sink->head, bytes, first);
	bytes += first;
	size -= first;
	while (size) {
		size_t part = SINK_TAIL - sink->tail_at;

		part = part < size ? part : size;
		memcpy(sink->tail + sink->tail_at, bytes, part);
		sink->tail_at = (sink->tail_at + part) % SINK_TAIL;
		bytes += part;
		size -= part;
	}
}

static void write_log(struct sink *sink, const char *bytes, size_t size)
{
	static const char rest[] = "\n[ringfence: the rest is left out]\n";

	if (sink->log < 0 || sink->bytes >= SINK_LOG)
		return;
	if (fd_write_all(sink->log, bytes, size) < 0 ||
	    (sink->bytes + size >= SINK_LOG && fd_write_all(sink->log, rest, sizeof rest - 1) < 0))
		/* The disk is full; the output is still read and kept in memory. */
		fd_close(&sink->log);
}

bool sink_serve(struct sink *sink)
{
	char chunk[65536];
	ssize_t n = read(sink->fd, chunk, sizeof chunk);

	if (n > 0) {
		write_log(sink, chunk, (size_t)n);
		keep(sink, chunk, (size_t)n);
		sink->bytes += (uint64_t)n;
		if (sink->tap)
			sink->tap(sink->context, chunk, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		fd_close(&sink->fd);
	}
	return sink->fd >= 0;
}

/* Appends the ring, oldest bytes first. */
static void add_tail(const struct sink *sink, struct buffer *text)
{
	uint64_t held = sink->bytes - sink->head.used;

	if (held > SINK_TAIL)
		buffer_add(text, sink->tail + sink->tail_at, SINK_TAIL - sink->tail_at);
	buffer_add(text, sink->tail, held > SINK_TAIL ? sink->tail_at : held);
}

void sink_text(const struct sink *sink, struct buffer *ret_text)
{
	buffer_add(ret_text, sink->head.data, sink->head.used);
	add_tail(sink, ret_text);
}

void sink_last(const struct sink *sink, size_t size, struct buffer *ret_text)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(SINK_HEAD + SINK_TAIL + 1);
	size_t skip;

	sink_text(sink, &text);
	skip = text.used > size ? text.used - size : 0;
	buffer_add(ret_text, text.data ? text.data + skip : "", text.used - skip);
}

void sink_release(struct sink *sink)
{
	fd_close(&sink->fd);
	fd_close(&sink->log);
	buffer_release(&sink->head);
	free(sink->tail);
	sink->tail = NULL;
}
