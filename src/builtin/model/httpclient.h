/*
 * The way to a model server: HTTP/1.1 in the clear, on a connection that is kept for the next request.
 *
 * In the fence that server is the gateway, on this machine's loopback; so there is no TLS here, and no looking up of names.
 */
#ifndef BUILTIN_MODEL_HTTPCLIENT_H
#define BUILTIN_MODEL_HTTPCLIENT_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTPCLIENT_HOST = 64,
	HTTPCLIENT_PREFIX = 256,
	HTTPCLIENT_HEAD = 64 << 10,    /* bytes of a head */
	HTTPCLIENT_INTERIM = 100,      /* heads that only say that another one comes */
	HTTPCLIENT_ANSWER = 256 << 20, /* of an answer */
	HTTPCLIENT_CONNECT_MS = 10000, /* until somebody answers at all */
	HTTPCLIENT_SILENT_MS =
		600000, /* without a byte; a large prompt takes a small machine long */
	HTTPCLIENT_TICK_MS =
		30000, /* after which the caller is told that an answer is still awaited */
};

struct httpclient_place {
	char host[HTTPCLIENT_HOST]; /* an address */
	uint16_t port;
	char prefix[HTTPCLIENT_PREFIX]; /* before each path; without a slash at its end */
};

/* Reads "http://127.0.0.1:61080/v1". Returns 0, or -1 with err set. */
int httpclient_place_read(const char *url, struct httpclient_place *ret_place, struct error *err);

/* What the head of an answer says. */
struct httpclient_head {
	unsigned int status;
	int64_t wait_ms; /* before the next try; -1: not said */
	int retry;       /* 1: try again, 0: do not; -1: not said */
	bool events;     /* server-sent ones */
};

struct httpclient {
	struct httpclient_place place;
	int fd;       /* -1: none */
	bool garbled; /* what came last was no HTTP, or had no end: no use to try again */
	void (*tick)(void *context);
	void *context;
	int64_t ticked_ms;
};

#define HTTPCLIENT_INIT ((struct httpclient){ .fd = -1 })

void httpclient_release(struct httpclient *link);

struct httpclient_request {
	const char *method;
	const char *path;  /* behind the prefix */
	const char *lines; /* of the head, each with its end */
	const char *body;
	size_t size;
};

/* Called with the head before the first piece of the body, and again with each. */
typedef void httpclient_fn(void *context, const struct httpclient_head *head, const char *bytes,
			   size_t size);

/*
 * Asks. Returns 0 when the whole answer has come, else -1 with err set; *ret_status is its status, or 0 if nothing came.
 */
int httpclient_ask(struct httpclient *link, const struct httpclient_request *request,
		   httpclient_fn *take, void *context, unsigned int *ret_status, struct error *err);

#endif
