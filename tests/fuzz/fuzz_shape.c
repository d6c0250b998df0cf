// sources: src/meter/shape.c
/* A provider's header lines that say when to retry: one "name: value" per line. */
#include "fuzz.h"

#include "meter/shape.h"

#include <stdlib.h>
#include <string.h>

void fuzz_shape(const uint8_t *data, size_t size)
{
	const int64_t now = INT64_C(1795190400000);
	struct shape_limit limit = { 0 };
	const char *at = (const char *)data;

	while (size > 0) {
		const char *end = memchr(at, '\n', size);
		size_t line = end ? (size_t)(end - at) : size;
		const char *colon = memchr(at, ':', line);

		if (colon)
			shape_limit_line(&limit, at, (size_t)(colon - at), colon + 1,
					 line - (size_t)(colon + 1 - at), now);
		at += line + (end != NULL);
		size -= line + (end != NULL);
	}
	if (limit.at_ms && (limit.at_ms < now - 60000 || limit.at_ms > now + INT64_C(8) * 86400000))
		abort();
}

FUZZ_TARGET(fuzz_shape)
