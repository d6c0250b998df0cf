/*
 * HTTP/1 as the gateway accepts it: a strict subset in which a message has only one meaning.
 *
 * Pure functions. Anything that two parsers could read differently is refused: bare line feeds,
 * folded lines, blanks before a colon, several lengths, a length together with chunks, codings
 * other than chunked, control characters, user names in URIs. Heads are never forwarded but
 * rewritten, so that nothing unparsed gets through.
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

/* A part of the input. */
struct http_text {
	const char *at;
	size_t size;
};

enum http_body { HTTP_NOTHING, HTTP_LENGTH, HTTP_CHUNKS, HTTP_UNTIL_CLOSE };

/* The properties of a message, from its head. */
struct http_message {
	unsigned int minor; /* of HTTP/1.x */
	enum http_body body;
	uint64_t length;
	bool keep;    /* the connection may be reused */
	bool expects; /* 100-continue */
	bool upgrade; /* requests another protocol (h2c is ignored: a plain response will do) */
	struct http_text lines;
	struct http_text named[HTTP_NAMED]; /* by Connection: for this connection only */
	size_t named_count;
};

struct http_request {
	struct http_message message;
	struct http_text method;
	struct http_text path; /* empty: "/" */
	bool connect;
	bool head;
	char host[GATEWAY_HOST]; /* as in the URI, without brackets */
	uint16_t port;
	bool has_host; /* a Host header is present */
	char host_line[GATEWAY_HOST];
	uint16_t host_port;
	struct http_text authorization; /* for a proxy */
};

struct http_response {
	struct http_message message;
	unsigned int status;
	bool empty; /* no body follows, whatever its length header */
	struct http_text reason;
};

/* Returns the size of the head with its empty line, 0 if it is incomplete, or -1 if it is
 * invalid. from: how much was scanned before. */
ssize_t http_head_size(const char *bytes, size_t size, size_t from);

enum http_form {
	HTTP_PROXY,  /* CONNECT host:port, or an absolute URI */
	HTTP_ORIGIN, /* a path and a Host header: a request within a tunnel */
};

/* Both parse exactly one head. They return NULL, or a message on why it is invalid. Texts point
 * into the input. */
const char *http_request_read(const char *bytes, size_t size, enum http_form form,
			      struct http_request *ret_request);
const char *http_response_read(const char *bytes, size_t size, bool to_head,
			       struct http_response *ret_response);

/* Write a head for the other side. */
void http_request_write(const struct http_request *request, const struct rule_target *target,
			struct buffer *out);
void http_response_write(const struct http_response *response, bool keep, struct buffer *out);

/* Writes these bytes as one chunk. Writes nothing for 0 bytes, since an empty chunk ends the
 * body. */
void http_chunk_write(const char *bytes, size_t size, struct buffer *out);

/* Returns the next header of a valid head (message.lines, which it shortens). */
bool http_line_next(struct http_text *lines, struct http_text *ret_name,
		    struct http_text *ret_value);

/* Returns true if the header is for one connection only, or is rewritten. */
bool http_line_dropped(struct http_text name, const struct http_message *message);

bool http_text_is(struct http_text text, const char *word); /* ignores case */

/* Finds the end of a chunked body, which is forwarded unchanged. */
struct http_chunks {
	unsigned int state;
	unsigned int digits;
	uint64_t left;
	uint64_t line;
	bool strict; /* for requests: no extensions, no trailer */
	bool done;
};

/* Returns how many of these bytes belong to the body, or -1 if the chunked encoding is invalid. */
ssize_t http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t size);

/* The same for at most one run of data, and where the data is, without framing. Call it until
 * everything is consumed or the body is done. */
ssize_t http_chunks_take(struct http_chunks *chunks, const char *bytes, size_t size,
			 struct http_text *ret_data);

#endif
