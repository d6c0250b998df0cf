/* The target of a request, such as "/api/events?loop=ID", and the cookies that come with it: strict
 * parsers of what a browser sends. */
#ifndef SERVE_WEB_QUERY_H
#define SERVE_WEB_QUERY_H

#include "util/error.h"

#include <stddef.h>

enum {
	WEB_QUERY_TARGET = 4096, /* bytes of a target */
	WEB_QUERY_MOST = 16,     /* parameters */
};

struct web_query_item {
	const char *name, *value; /* decoded: without control characters, but maybe not UTF-8 */
};

struct web_query {
	char bytes[WEB_QUERY_TARGET]; /* of the path and of all items */
	const char *path;             /* not decoded: a path of ours needs no escapes */
	struct web_query_item items[WEB_QUERY_MOST];
	size_t count;
};

/* Parses a target. Returns 0, or -1 with err set. */
int web_query_parse(const char *target, struct web_query *ret_query, struct error *err);

/* Returns the value of a parameter, or NULL. */
const char *web_query_get(const struct web_query *query, const char *name);

/* Finds a cookie in a header, or in the rest of one after a value. Returns its value, of which
 * *ret_size bytes count, or NULL. */
const char *web_query_cookie(const char *header, const char *name, size_t *ret_size);

#endif
