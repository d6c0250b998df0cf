/*
 * Streams of server-sent events, one for each open page. A stream remembers which states its page
 * has seen, and is sent the newest ones whenever the connection takes more; a page that is slow
 * misses states in between, and costs no memory. A page that reads nothing is disconnected by the
 * library's time limit.
 */
#ifndef SERVE_WEB_STREAM_H
#define SERVE_WEB_STREAM_H

#include "serve/web_feed.h"
#include "serve/web_query.h"

#include <microhttpd.h>

enum {
	WEB_STREAM_MOST = 200,
	WEB_STREAM_LOOPS = 4,       /* that one page looks at */
	WEB_STREAM_ROWS = 100,      /* in one event */
	WEB_STREAM_BYTES = 8 << 20, /* of events that are sent together */
	WEB_STREAM_BEAT_MS = 15000,
};

struct web_stream;

struct web_stream_list {
	struct web_feed *feed;
	struct web_stream *first;
	size_t count;
	bool resumed; /* a stream was woken */
	bool ended;
};

void web_stream_init(struct web_stream_list *streams, struct web_feed *feed);

/* Answers a request with a stream. seen: the header Last-Event-ID, or NULL. Returns 0, or -1 with
 * err set. */
int web_stream_open(struct web_stream_list *streams, struct MHD_Connection *connection,
		    const struct web_query *query, const char *seen, struct error *err);

/* Wakes all streams, because a state has changed. */
void web_stream_wake(struct web_stream_list *streams);

/* Wakes those for which it is time to show that the connection lives; lowers *timeout_ms (-1: none)
 * to the next time. */
void web_stream_beat(struct web_stream_list *streams, int *timeout_ms);

/* Ends all streams. */
void web_stream_end(struct web_stream_list *streams);

#endif
