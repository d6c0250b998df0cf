// sources: src/agent/jsonline.c -ljansson
/*
 * JSON without a tree: it reads all that a real parser accepts in the same way, and survives the
 * rest.
 */
#include "fuzz.h"

#include "agent/jsonline.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 16 };

/* Visits all values. */
static void walk(struct jsonline value, int depth)
{
	struct buffer text = BUFFER_INIT(3 * TEXT);
	struct jsonline key;
	struct jsonline inner;
	size_t cursor = 0;

	jsonline_text(value, TEXT, &text);
	jsonline_text(value, 5, &text);
	jsonline_count(value);
	if (jsonline_nano(value) < -1)
		abort();
	buffer_release(&text);
	while (depth < 8 && jsonline_next(value, &cursor, &key, &inner))
		walk(inner, depth + 1);
}

static void compare(json_t *object, struct jsonline text)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		struct jsonline_field field = { .key = key };
		struct buffer decoded = BUFFER_INIT(3 * TEXT);

		/* Keys with escapes are not needed, and not found. */
		if (jsonline_object(text, &field, 1) < 0)
			abort();
		if (json_is_string(value) && field.value.at && json_string_length(value) < TEXT &&
		    jsonline_text(field.value, TEXT, &decoded) &&
		    !strstr(json_string_value(value), "\xef\xbf\xbd") &&
		    strcmp(buffer_text(&decoded), json_string_value(value)) != 0)
			abort();
		if (json_is_integer(value) && json_integer_value(value) >= 0 &&
		    json_integer_value(value) < 100000000000000000 && field.value.at &&
		    *field.value.at != '-' &&
		    jsonline_count(field.value) != json_integer_value(value))
			abort();
		if (json_is_true(value) != (field.value.at && jsonline_is_true(field.value)) &&
		    field.value.at)
			abort();
		buffer_release(&decoded);
	}
}

void fuzz_jsonline(const uint8_t *data, size_t size)
{
	struct jsonline text = { (const char *)data, size };
	json_t *value = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);

	if (size)
		walk(text, 0);
	/* The real parser takes a NUL after a number for white space. */
	if (size && json_is_object(value) && !memchr(data, '\0', size))
		compare(value, text);
	json_decref(value);
}

FUZZ_TARGET(fuzz_jsonline)
