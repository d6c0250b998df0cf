/* A request and its response, for the client and the program. */
#ifndef HTTPS_HTTPS_MESSAGE_H
#define HTTPS_HTTPS_MESSAGE_H

#include "util/buffer.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTPS_BODY = 32 << 20,        /* most bytes of a request's or a response's body */
	HTTPS_HEAD = 64 << 10,        /* most bytes of its headers, and of a URL */
	HTTPS_HEADERS = 128,          /* most headers */
	HTTPS_TIMEOUT_MS = 600 * 1000 /* longest time limit */
};

struct https_request {
	const char *method; /* "GET", ...; NULL: GET */
	const char *url;
	const struct list *headers; /* "Name: value", or NULL */
	const struct list *secrets; /* the same; a redirect to another host does not get them */
	const char *body;           /* NULL: none */
	size_t size;
	uint64_t timeout_ms; /* 0: a minute */
	size_t most_bytes;   /* of the response's body; 0: 1 MiB */
	bool keep_end;       /* keep the end of a longer body instead of failing */
	const char *ca_file; /* certificates to trust in addition, as PEM; or NULL */
};

struct https_response {
	unsigned int status;
	struct list headers; /* "name: value", the names in lower case */
	struct buffer body;
	bool cut; /* only the end of the body was kept */
};

void https_message_release(struct https_response *response);

#endif
