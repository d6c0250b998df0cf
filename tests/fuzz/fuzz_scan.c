// sources: src/agent/scan.c -ljansson
/* JSON without a tree: whatever a real parser understands is understood alike, and the rest does no harm. */
#include "fuzz.h"

#include "agent/scan.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 16 };

/* Goes through everything that there is. */
static void walk(struct scan value, int depth)
{
	struct buffer text = BUFFER_INIT(3 * TEXT);
	struct scan key;
	struct scan inner;
	size_t cursor = 0;

	scan_text(value, TEXT, &text);
	scan_text(value, 5, &text);
	scan_count(value);
	if (scan_nano(value) < -1)
		abort();
	buffer_release(&text);
	while (depth < 8 && scan_next(value, &cursor, &key, &inner))
		walk(inner, depth + 1);
}

static void compare(json_t *object, struct scan text)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		struct scan_field field = { .key = key };
		struct buffer decoded = BUFFER_INIT(3 * TEXT);

		/* Keys with escapes are of no use to anybody, and are not found. */
		if (scan_object(text, &field, 1) < 0)
			abort();
		if (json_is_string(value) && field.value.at && json_string_length(value) < TEXT &&
		    scan_text(field.value, TEXT, &decoded) &&
		    !strstr(json_string_value(value), "\xef\xbf\xbd") &&
		    strcmp(buffer_text(&decoded), json_string_value(value)) != 0)
			abort();
		if (json_is_integer(value) && json_integer_value(value) >= 0 &&
		    json_integer_value(value) < 100000000000000000 && field.value.at &&
		    *field.value.at != '-' && scan_count(field.value) != json_integer_value(value))
			abort();
		if (json_is_true(value) != (field.value.at && scan_is_true(field.value)) &&
		    field.value.at)
			abort();
		buffer_release(&decoded);
	}
}

void fuzz_scan(const uint8_t *data, size_t size)
{
	struct scan text = { (const char *)data, size };
	json_t *value = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);

	if (size)
		walk(text, 0);
	/* That one takes a NUL behind a number for white space. */
	if (size && json_is_object(value) && !memchr(data, '\0', size))
		compare(value, text);
	json_decref(value);
}

FUZZ_TARGET(fuzz_scan)
