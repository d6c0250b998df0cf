// sources: src/meter/shape.c
/* When to retry, as a provider says it: header lines, one "name: value" per line; each value is
 * also read as the times and the message in the body of an error. */
#include "fuzz.h"

#include "meter/shape.h"

#include <stdlib.h>
#include <string.h>

static void read_body(struct shape_limit *limit, const char *value, size_t size, int64_t now)
{
	struct usage usage = { 0 };

	memcpy(usage.resets_at, value, size < USAGE_TIME ? size : USAGE_TIME - 1);
	memcpy(usage.resets_in, usage.resets_at, USAGE_TIME);
	memcpy(usage.message, value, size < USAGE_MESSAGE ? size : USAGE_MESSAGE - 1);
	shape_limit_body(limit, &usage, now);
}

void fuzz_shape(const uint8_t *data, size_t size)
{
	const int64_t now = INT64_C(1795190400000);
	struct shape_limit limit = { 0 };
	const char *at = (const char *)data;

	while (size > 0) {
		const char *end = memchr(at, '\n', size);
		size_t line = end ? (size_t)(end - at) : size;
		const char *colon = memchr(at, ':', line);

		if (colon) {
			shape_limit_line(&limit, at, (size_t)(colon - at), colon + 1,
					 line - (size_t)(colon + 1 - at), now);
			read_body(&limit, colon + 1, line - (size_t)(colon + 1 - at), now);
		}
		at += line + (end != NULL);
		size -= line + (end != NULL);
	}
	if (limit.at_ms &&
	    (limit.at_ms < now - 60000 || limit.at_ms > now + INT64_C(366) * 86400000))
		abort();
}

FUZZ_TARGET(fuzz_shape)
