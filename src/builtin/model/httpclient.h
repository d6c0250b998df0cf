/*
 * A client for model servers: HTTP/1.1 without TLS, on a connection that is kept for the next
 * request.
 *
 * In the fence, the server is the gateway on the loopback interface, so neither TLS nor name lookup
 * is needed.
 */
#ifndef BUILTIN_MODEL_HTTPCLIENT_H
#define BUILTIN_MODEL_HTTPCLIENT_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTPCLIENT_HOST = 64,
	HTTPCLIENT_PREFIX = 256,
	HTTPCLIENT_HEAD = 64 << 10,    /* bytes of a head */
	HTTPCLIENT_INTERIM = 100,      /* most interim (1xx) heads */
	HTTPCLIENT_ANSWER = 256 << 20, /* bytes of a response */
	HTTPCLIENT_CONNECT_MS = 10000, /* to connect */
	HTTPCLIENT_SILENT_MS =
		600000,            /* without a byte; slow machines need long for a large prompt */
	HTTPCLIENT_TICK_MS = 5000, /* at least, between calls of `tick` while data arrives */
};

struct httpclient_place {
	char host[HTTPCLIENT_HOST]; /* a numeric address */
	uint16_t port;
	char prefix[HTTPCLIENT_PREFIX]; /* before each path; without a trailing slash */
};

/* Parses a URL such as "http://127.0.0.1:61080/v1". Returns 0, or -1 with err set. */
int httpclient_place_read(const char *url, struct httpclient_place *ret_place, struct error *err);

/* The relevant parts of a response head. */
struct httpclient_head {
	unsigned int status;
	int64_t wait_ms; /* requested delay before the next attempt; -1: not given */
	int retry;       /* 1: retry, 0: do not; -1: not given */
	bool events;     /* a stream of server-sent events */
};

struct httpclient {
	struct httpclient_place place;
	int fd;       /* -1: not connected */
	bool garbled; /* the last response was not valid HTTP or too long: do not retry */
	void (*tick)(void *context);
	void *context;
	int64_t ticked_ms;
};

#define HTTPCLIENT_INIT ((struct httpclient){ .fd = -1 })

void httpclient_release(struct httpclient *client);

struct httpclient_request {
	const char *method;
	const char *path;  /* appended to the prefix */
	const char *lines; /* header lines, each with CR LF */
	const char *body;
	size_t size;
};

/* Called with the head before the body, then with each piece of the body. */
typedef void httpclient_fn(void *context, const struct httpclient_head *head, const char *bytes,
			   size_t size);

/*
 * Sends a request. Returns 0 when the whole response has arrived, else -1 with err set. *ret_status
 * is the HTTP status, or 0 if there was no response.
 */
int httpclient_send(struct httpclient *client, const struct httpclient_request *request,
		    httpclient_fn *on_body, void *context, unsigned int *ret_status,
		    struct error *err);

#endif
