/*
 * HTTP/1 as the gateway understands it: a strict subset, in which a message has one meaning only.
 *
 * Pure functions. What two parsers could read in two ways is refused: bare line feeds, folded lines, blanks
 * before a colon, two lengths, a length beside chunks, codings other than chunked, control characters, user names in
 * URIs. Heads are never passed on but written anew, so that nothing that was not understood gets through.
 */
#ifndef GATEWAY_PROXY_HTTP_H
#define GATEWAY_PROXY_HTTP_H

#include "gateway/proxy/rule.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HTTP_LINES = 256, HTTP_NAMED = 16 };

/* A part of the bytes that were read. */
struct http_text {
	const char *at;
	size_t size;
};

enum http_body { HTTP_NOTHING, HTTP_LENGTH, HTTP_CHUNKS, HTTP_UNTIL_CLOSE };

/* What a head says about the message as a whole. */
struct http_message {
	unsigned int minor; /* of HTTP/1.x */
	enum http_body body;
	uint64_t length;
	bool keep;    /* the connection may be used again */
	bool expects; /* 100-continue */
	bool upgrade; /* wants another protocol (h2c does not count: a plain answer will do) */
	struct http_text lines;
	struct http_text named[HTTP_NAMED]; /* by Connection: for this connection alone */
	size_t named_count;
};

struct http_request {
	struct http_message message;
	struct http_text method;
	struct http_text path; /* empty: "/" */
	bool connect;
	bool head;
	char host[GATEWAY_HOST]; /* as it stands in the URI, without brackets */
	uint16_t port;
	bool has_host; /* there is a line Host */
	char host_line[GATEWAY_HOST];
	uint16_t host_port;
	struct http_text authorization; /* for a proxy */
};

struct http_response {
	struct http_message message;
	unsigned int status;
	bool empty; /* nothing follows, whatever length it names */
	struct http_text reason;
};

/*
 * How long the head is, with its empty line; 0: it is not whole yet; -1: it never will be. from: how much
 * was looked at before, and found not to be whole.
 */
ssize_t http_head_size(const char *bytes, size_t size, size_t from);

enum http_form {
	HTTP_PROXY,  /* CONNECT host:port, or an absolute URI */
	HTTP_ORIGIN, /* a path and a Host: what goes through a tunnel */
};

/* Both read one head, exactly. Return NULL, or a sentence on what is wrong; texts point into the bytes. */
const char *http_request_read(const char *bytes, size_t size, enum http_form form,
			      struct http_request *ret_request);
const char *http_response_read(const char *bytes, size_t size, bool to_head,
			       struct http_response *ret_response);

/* Write a head for the other side. */
void http_request_write(const struct http_request *request, const struct rule_target *target,
			struct buffer *out);
void http_response_write(const struct http_response *response, bool keep, struct buffer *out);

/* These bytes as one chunk; none are none, because a chunk of 0 would be the end. */
void http_chunk_write(const char *bytes, size_t size, struct buffer *out);

/* The next line of a head that was read without mistakes (message.lines, which is shortened). */
bool http_line_next(struct http_text *lines, struct http_text *ret_name,
		    struct http_text *ret_value);

/* Is the line for one connection alone, or written anew? */
bool http_line_dropped(struct http_text name, const struct http_message *message);

bool http_text_is(struct http_text text, const char *word); /* in large or small letters */

/* Finds the end of a body in chunks, which is passed on as it is. */
struct http_chunks {
	unsigned int state;
	unsigned int digits;
	uint64_t left;
	uint64_t line;
	bool strict; /* no extensions, no trailer: a request's */
	bool done;
};

/* How many of these bytes belong to the body; -1: they are no chunks. */
ssize_t http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t size);

/* The same for one run of data at most, and which bytes that is: without the frames. To be called until all is taken
 * or done. */
ssize_t http_chunks_take(struct http_chunks *chunks, const char *bytes, size_t size,
			 struct http_text *ret_data);

#endif
