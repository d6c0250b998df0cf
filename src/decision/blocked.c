/* A blocked agent: see blocked.h. */
#include "decision/blocked.h"

#include "decision/lines.h"
#include "decision/promise.h"

#include <string.h>

enum { OPEN_SIZE = sizeof BLOCKED_OPEN - 1, CLOSE_SIZE = sizeof BLOCKED_CLOSE - 1 };

static bool ends_in_close(const char *message, size_t size)
{
	return size >= CLOSE_SIZE &&
	       memcmp(message + size - CLOSE_SIZE, BLOCKED_CLOSE, CLOSE_SIZE) == 0;
}

/* Returns the last opening tag in the text, or NULL. */
static const char *last_open(const char *text, size_t size)
{
	for (size_t at = size; at >= OPEN_SIZE; at--)
		if (memcmp(text + at - OPEN_SIZE, BLOCKED_OPEN, OPEN_SIZE) == 0)
			return text + at - OPEN_SIZE;
	return NULL;
}

bool blocked_read(const char *message, size_t size, char *out, size_t room)
{
	const char *open;
	const char *text;
	const char *end;

	while (!ends_in_close(message, size)) {
		size_t less = promise_strip(message, size);

		if (less == size)
			return false;
		size = less;
	}
	end = message + size - CLOSE_SIZE;
	open = last_open(message, size - CLOSE_SIZE);
	text = open ? open + OPEN_SIZE : end;
	if (!open || memmem(text, (size_t)(end - text), BLOCKED_CLOSE, CLOSE_SIZE))
		return false;
	return lines_join(text, (size_t)(end - text), out, room) > 0;
}
