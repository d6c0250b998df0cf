/* Server-sent events: see web_stream.h. */
#include "serve/web_stream.h"

#include "serve/web_reply.h"
#include "serve/web_route.h"
#include "util/clock.h"
#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A loop that the page looks at. */
struct looked {
	int place; /* in the feed */
	uint64_t seen;
};

struct web_stream {
	struct web_stream_list *all;
	struct web_stream *next;
	struct MHD_Connection *connection;
	bool suspended;
	bool has_hello, ready;
	uint64_t epoch, seen; /* of rows */
	struct looked loops[WEB_STREAM_LOOPS];
	size_t loop_count;
	uint64_t beat_ms; /* when something must be sent */
	struct buffer out;
	size_t sent; /* of out */
};

void web_stream_init(struct web_stream_list *streams, struct web_feed *feed)
{
	*streams = (struct web_stream_list){ .feed = feed };
}

/* Reads the id of an event: "EPOCH-VERSION" in hexadecimal digits. Returns 0, or -1. */
static int read_id(const char *text, uint64_t *ret_epoch, uint64_t *ret_version)
{
	enum { DIGITS = 16 };
	static const char hex[] = "0123456789abcdef";
	size_t size = strspn(text, hex);
	size_t rest = text[size] == '-' ? strspn(text + size + 1, hex) : 0;

	if (size != DIGITS || !rest || rest > DIGITS || text[size + 1 + rest])
		return -1;
	*ret_epoch = strtoull(text, NULL, 16);
	*ret_version = strtoull(text + size + 1, NULL, 16);
	return 0;
}

/* ---- events ---- */

static long long now_ms(void)
{
	return (long long)clock_wall_ms();
}

/* Begins with the rows that the page has not seen, if it is known which these are. */
static void add_hello(struct web_stream *stream)
{
	const struct web_feed *feed = stream->all->feed;
	bool resumes = stream->epoch == feed->epoch && stream->seen >= feed->forgotten &&
		       stream->seen <= feed->version;

	if (!resumes)
		stream->seen = 0;
	stream->epoch = feed->epoch;
	stream->ready = false;
	for (size_t i = 0; i < stream->loop_count; i++)
		stream->loops[i].seen = 0;
	buffer_printf(&stream->out,
		      "retry: 1000\nevent: hello\ndata: {\"time_ms\":%lld,\"reset\":%s}\n\n",
		      now_ms(), resumes ? "false" : "true");
	stream->has_hello = true;
}

static void add_rows(struct web_stream *stream)
{
	const struct web_feed *feed = stream->all->feed;
	struct buffer *out = &stream->out;
	size_t first = web_feed_newer(feed, stream->seen);
	size_t end = first + WEB_STREAM_ROWS < feed->count ? first + WEB_STREAM_ROWS : feed->count;
	const char *comma = "";

	if (first == end)
		return;
	stream->seen = feed->rows[end - 1].version;
	buffer_printf(out, "id: %016llx-%llx\nevent: rows\ndata: {\"time_ms\":%lld,\"rows\":[",
		      (unsigned long long)stream->epoch, (unsigned long long)stream->seen,
		      now_ms());
	for (size_t i = first; i < end; i++)
		if (feed->rows[i].json) {
			buffer_printf(out, "%s%s", comma, feed->rows[i].json);
			comma = ",";
		}
	comma = "";
	buffer_add_text(out, "],\"gone\":[");
	for (size_t i = first; i < end; i++)
		if (!feed->rows[i].json) {
			buffer_printf(out, "%s\"%s\"", comma, feed->rows[i].id);
			comma = ",";
		}
	buffer_add_text(out, "]}\n\n");
}

static void add_ready(struct web_stream *stream)
{
	const struct web_feed *feed = stream->all->feed;

	if (stream->ready || !feed->complete || web_feed_newer(feed, stream->seen) < feed->count)
		return;
	buffer_printf(&stream->out, "event: ready\ndata: {\"time_ms\":%lld}\n\n", now_ms());
	stream->ready = true;
}

static void add_loops(struct web_stream *stream)
{
	const struct web_feed *feed = stream->all->feed;

	for (size_t i = 0; i < stream->loop_count; i++) {
		struct looked *looked = &stream->loops[i];
		const struct web_feed_loop *loop = &feed->loops[looked->place];

		if (loop->version <= looked->seen)
			continue;
		if (loop->json)
			buffer_printf(&stream->out, "event: loop\ndata: %s\n\n", loop->json);
		else
			buffer_printf(&stream->out, "event: gone\ndata: {\"id\":\"%s\"}\n\n",
				      loop->id);
		looked->seen = loop->version;
	}
}

/* Writes what the page has not seen, or a sign of life when it is time. */
static void fill(struct web_stream *stream)
{
	uint64_t epoch = stream->all->feed->epoch;
	uint64_t now = clock_steady_ms();

	stream->out.used = stream->sent = 0;
	if (epoch && (!stream->has_hello || stream->epoch != epoch))
		add_hello(stream);
	if (epoch) {
		add_rows(stream);
		add_ready(stream);
		add_loops(stream);
	}
	if (!stream->out.used && now >= stream->beat_ms)
		buffer_add_text(&stream->out, ": beat\n\n");
	if (stream->out.used)
		stream->beat_ms = now + WEB_STREAM_BEAT_MS;
}

/* The library wants bytes. Without any, the connection sleeps until somebody wakes it. */
static ssize_t read_stream(void *context, uint64_t position, char *bytes, size_t most)
{
	struct web_stream *stream = context;
	size_t left;

	(void)position;
	if (stream->sent == stream->out.used) {
		if (stream->all->ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
		fill(stream);
		if (buffer_overflowed(&stream->out))
			return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	left = stream->out.used - stream->sent;
	if (!left) {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	if (left > most)
		left = most;
	memcpy(bytes, stream->out.data + stream->sent, left);
	stream->sent += left;
	return (ssize_t)left;
}

/* ---- streams ---- */

static void free_stream(void *context)
{
	struct web_stream *stream = context;
	struct web_stream_list *all = stream->all;
	struct web_stream **at = &all->first;

	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
	all->count--;
	for (size_t i = 0; i < stream->loop_count; i++)
		web_feed_unwatch(all->feed, stream->loops[i].place);
	web_feed_leave(all->feed);
	buffer_release(&stream->out);
	free(stream);
}

/* Returns a stream that is in the list of all, and that the response frees. */
static struct web_stream *new_stream(struct web_stream_list *streams,
				     struct MHD_Connection *connection)
{
	struct web_stream *stream = mem_zero(sizeof *stream);

	*stream = (struct web_stream){ .all = streams,
				       .next = streams->first,
				       .connection = connection,
				       .beat_ms = clock_steady_ms() + WEB_STREAM_BEAT_MS,
				       .out = BUFFER_INIT(WEB_STREAM_BYTES) };
	streams->first = stream;
	streams->count++;
	web_feed_join(streams->feed);
	return stream;
}

static int watch_loop(struct web_stream *stream, const char *id, struct error *err)
{
	struct web_route_match match;
	AUTO_FREE char *path = mem_format("/api/loops/%s", id);
	int place;

	web_route_find(path, &match);
	if (match.route != WEB_ROUTE_loop)
		return error_with(err, ERROR_INVALID, "'loop' must be the id of a loop");
	if (stream->loop_count == WEB_STREAM_LOOPS)
		return error_with(err, ERROR_INVALID, "a stream shows at most %d loops",
				  WEB_STREAM_LOOPS);
	place = web_feed_watch(stream->all->feed, id);
	if (place < 0)
		return error_with(err, ERROR_BUSY, "all pages together show at most %d loops",
				  WEB_FEED_WATCHED);
	stream->loops[stream->loop_count++] = (struct looked){ .place = place };
	return 0;
}

static int watch_loops(struct web_stream *stream, const struct web_query *query, struct error *err)
{
	for (size_t i = 0; i < query->count; i++)
		if (strcmp(query->items[i].name, "loop") == 0 &&
		    watch_loop(stream, query->items[i].value, err) < 0)
			return -1;
	return 0;
}

int web_stream_open(struct web_stream_list *streams, struct MHD_Connection *connection,
		    const struct web_query *query, const char *seen, struct error *err)
{
	enum { BLOCK = 32768 };
	struct MHD_Response *response;
	struct web_stream *stream;

	if (streams->count == WEB_STREAM_MOST)
		return error_with(err, ERROR_BUSY, "%d pages are open (close some)",
				  WEB_STREAM_MOST);
	stream = new_stream(streams, connection);
	if (!seen)
		seen = web_query_get(query, "last");
	if (seen)
		read_id(seen, &stream->epoch, &stream->seen);
	response = watch_loops(stream, query, err) < 0
			   ? NULL
			   : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream,
							       stream, free_stream);
	if (!response) {
		free_stream(stream);
		return -1;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	if (web_reply_send(connection, MHD_HTTP_OK, response) == MHD_YES)
		return 0;
	return error_set(err, "the stream cannot be sent");
}

static void wake(struct web_stream *stream)
{
	if (!stream->suspended)
		return;
	stream->suspended = false;
	stream->all->resumed = true;
	MHD_resume_connection(stream->connection);
}

void web_stream_wake(struct web_stream_list *streams)
{
	for (struct web_stream *stream = streams->first; stream; stream = stream->next)
		wake(stream);
}

void web_stream_beat(struct web_stream_list *streams, int *timeout_ms)
{
	uint64_t now = clock_steady_ms();

	for (struct web_stream *stream = streams->first; stream; stream = stream->next) {
		int left = stream->beat_ms > now ? (int)(stream->beat_ms - now) : 0;

		if (!left)
			wake(stream);
		else if (*timeout_ms < 0 || left < *timeout_ms)
			*timeout_ms = left;
	}
}

void web_stream_end(struct web_stream_list *streams)
{
	streams->ended = true;
	web_stream_wake(streams);
}
