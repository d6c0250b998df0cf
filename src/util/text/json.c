/* JSON writer: see json.h. */
#include "util/text/json.h"

#include "util/text/text.h"

#include <stdlib.h>

static void end_line(struct json *json)
{
	buffer_printf(json->out, "\n%*s", (int)json->depth * 2, "");
}

/* Writes the separator before an entry, and its key. */
static void begin(struct json *json, const char *key, bool nests)
{
	struct json_level *level = json->depth ? &json->levels[json->depth - 1] : NULL;

	if (!level)
		return;

	bool line = json->depth == 1 || (json->depth == 2 && nests && level->close == ']');

	buffer_add_text(json->out, level->used ? "," : "");
	if (line)
		end_line(json);
	else if (level->used)
		buffer_add_text(json->out, " ");
	level->used = true;
	level->lines = level->lines || line;
	if (!key)
		return;
	text_json(json->out, key);
	buffer_add_text(json->out, ": ");
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin(json, key, true);
	if (json->depth == JSON_DEEPEST)
		abort();
	buffer_add(json->out, &bracket, 1);
	json->levels[json->depth++] = (struct json_level){ .close = bracket == '{' ? '}' : ']' };
}

void json_close(struct json *json)
{
	const struct json_level *level = &json->levels[--json->depth];

	if (level->lines)
		end_line(json);
	buffer_add(json->out, &level->close, 1);
	if (!json->depth)
		buffer_add_text(json->out, "\n");
}

void json_text(struct json *json, const char *key, const char *text)
{
	begin(json, key, false);
	if (text)
		text_json(json->out, text);
	else
		buffer_add_text(json->out, "null");
}

void json_bytes(struct json *json, const char *key, const char *bytes, size_t size)
{
	begin(json, key, false);
	text_json_bytes(json->out, bytes, size);
}

void json_number(struct json *json, const char *key, uint64_t number)
{
	begin(json, key, false);
	buffer_printf(json->out, "%llu", (unsigned long long)number);
}

void json_flag(struct json *json, const char *key, bool flag)
{
	begin(json, key, false);
	buffer_add_text(json->out, flag ? "true" : "false");
}

void json_list(struct json *json, const char *key, const struct list *list)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < list->count; i++)
		json_text(json, NULL, list->items[i]);
	json_close(json);
}
