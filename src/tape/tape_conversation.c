/* Converts the body of a request to a conversation as text: see tape.h. */
#include "tape/tape.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/sha256.h"
#include "util/text/text.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEEPEST = 48,
	WIDE = 160,      /* longer texts are shown as lines */
	WRAP = 32 << 10, /* most bytes of a line */
	BLOB = 1024,     /* a text this long without a space is encoded data */
	TEXT_MOST = TAPE_MOST,
};

void tape_names_add(struct tape_names *names, const char *text, const char *stand_in, bool path)
{
	if (names->count == TAPE_NAMES || !text || strlen(text) < 2)
		return;
	names->items[names->count].text = text;
	names->items[names->count].stand_in = stand_in;
	names->items[names->count++].path = path;
}

void tape_model(char ret_model[TAPE_MODEL], const char *text, size_t size)
{
	size_t used = size < TAPE_MODEL ? size : TAPE_MODEL - 1;

	for (size_t i = 0; i < used; i++)
		ret_model[i] = (char)(text[i] >= 0x20 && text[i] <= 0x7e ? text[i] : '?');
	ret_model[used] = '\0';
}

/* --- placeholders */

static bool ends_path(const char *at, const char *end)
{
	/* A full stop ends the path, unless more of a name follows. */
	if (at < end && *at == '.')
		at++;
	return at == end || !(isalnum((unsigned char)*at) || *at == '_' || *at == '-');
}

static void replace_names(struct buffer *out, const char *bytes, size_t size,
			  const struct tape_names *names)
{
	const char *end = bytes + size;
	bool first[256] = { false };

	for (size_t i = 0; i < names->count; i++)
		first[(unsigned char)names->items[i].text[0]] = true;
	while (bytes < end) {
		const char *at = bytes;
		size_t i = 0;

		while (at < end && !first[(unsigned char)*at])
			at++;
		buffer_add(out, bytes, (size_t)(at - bytes));
		bytes = at;
		if (at == end)
			break;
		for (; i < names->count; i++) {
			size_t length = strlen(names->items[i].text);

			if ((size_t)(end - at) >= length &&
			    memcmp(at, names->items[i].text, length) == 0 &&
			    (!names->items[i].path || ends_path(at + length, end))) {
				buffer_add_text(out, names->items[i].stand_in);
				bytes = at + length;
				break;
			}
		}
		if (i == names->count)
			buffer_add(out, bytes++, 1);
	}
}

/* --- JSON as readable lines */

static void add_indent(struct buffer *out, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		buffer_add_text(out, "  ");
}

/* Returns whether the byte is plain text that needs no escape. */
static bool is_harmless(char byte)
{
	return (byte >= 0x20 && byte <= 0x7e) || byte == '\t';
}

/* Appends a line. Bytes that are not safe to show on a terminal are escaped as in C; tabs stay. */
static void add_line(struct buffer *out, const char *text, size_t size, size_t depth)
{
	do {
		size_t part = size < WRAP ? size : WRAP;

		while (part < size && ((unsigned char)text[part] & 0xc0) == 0x80)
			part--;
		add_indent(out, depth);
		for (size_t i = 0; i < part;) {
			size_t run = 0;

			while (i + run < part && is_harmless(text[i + run]))
				run++;
			buffer_add(out, text + i, run);
			i += run;
			for (run = 0; i + run < part && !is_harmless(text[i + run]);)
				run++;
			text_escape_bytes(out, text + i, run);
			i += run;
		}
		buffer_add_text(out, "\n");
		text += part;
		size -= part;
	} while (size > 0);
}

static void add_lines(struct buffer *out, const char *text, size_t size, size_t depth)
{
	for (;;) {
		const char *end = memchr(text, '\n', size);
		size_t line = end ? (size_t)(end - text) : size;

		add_line(out, text, line, depth);
		if (!end)
			return;
		text += line + 1;
		size -= line + 1;
	}
}

/* Returns whether the text is encoded data, such as an image or a signature. */
static bool is_blob(const char *text, size_t size)
{
	return size >= BLOB && !memchr(text, ' ', size) && !memchr(text, '\n', size);
}

static void add_string(struct buffer *out, const json_t *value, size_t depth)
{
	const char *text = json_string_value(value);
	size_t size = json_string_length(value);

	if (is_blob(text, size)) {
		char hex[SHA256_HEX];

		sha256_hex(text, size, hex);
		buffer_printf(out, " (%zu bytes, %.16s)\n", size, hex);
	} else if (size > WIDE || memchr(text, '\n', size)) {
		buffer_add_text(out, " |\n");
		add_lines(out, text, size, depth + 1);
	} else {
		buffer_add_text(out, " ");
		text_json_bytes(out, text, size);
		buffer_add_text(out, "\n");
	}
}

/* Returns whether a key is the client's own and not part of the conversation. */
static bool is_dropped(const char *key)
{
	static const char *const keys[] = { "cache_control", "metadata",
					    "internal_chat_message_metadata_passthrough", NULL };

	for (const char *const *at = keys; *at; at++)
		if (strcmp(key, *at) == 0)
			return true;
	return false;
}

/* Returns the text of a block that is nothing but text, in any provider's form, or NULL. */
static const json_t *as_text(const json_t *value)
{
	const json_t *text = json_object_get(value, "text");
	const char *type = jsonget_string(value, "type");
	const char *key;
	json_t *other;

	if (json_is_string(value))
		return value;
	if (!json_is_string(text) || (type && !strstr(type, "text")))
		return NULL;
	json_object_foreach((json_t *)value, key, other)
	{
		if (strcmp(key, "type") != 0 && strcmp(key, "text") != 0 && !is_dropped(key))
			return NULL;
	}
	return text;
}

static void add_value(struct buffer *out, const json_t *value, size_t depth);

static void add_key(struct buffer *out, const char *key)
{
	AUTO_BUFFER struct buffer name = BUFFER_INIT(4096);

	text_escape(&name, key);
	buffer_printf(out, "%.500s:", buffer_text(&name));
}

/* `first`: the first key follows a list's dash. */
static void add_object(struct buffer *out, const json_t *value, size_t depth, bool first,
		       const char *without)
{
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)value, key, member)
	{
		if (is_dropped(key) || (without && strcmp(key, without) == 0))
			continue;
		if (first)
			buffer_add_text(out, " ");
		else
			add_indent(out, depth);
		first = false;
		add_key(out, key);
		add_value(out, member, depth);
	}
	if (first)
		buffer_add_text(out, " {}\n");
}

static void add_list(struct buffer *out, const json_t *list, size_t depth)
{
	size_t index;
	json_t *item;

	json_array_foreach(list, index, item)
	{
		const json_t *text = as_text(item);

		add_indent(out, depth);
		buffer_add_text(out, "-");
		if (text)
			add_string(out, text, depth);
		else if (json_is_object(item) && depth < DEEPEST)
			add_object(out, item, depth + 1, true, NULL);
		else
			add_value(out, item, depth);
	}
}

static void add_value(struct buffer *out, const json_t *value, size_t depth)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		if (json_object_size(value) == 0 || depth >= DEEPEST) {
			buffer_add_text(out, " {}\n");
			break;
		}
		buffer_add_text(out, "\n");
		add_object(out, value, depth + 1, false, NULL);
		break;
	case JSON_ARRAY:
		if (json_array_size(value) == 0 || depth >= DEEPEST) {
			buffer_add_text(out, " []\n");
			break;
		}
		buffer_add_text(out, "\n");
		add_list(out, value, depth + 1);
		break;
	case JSON_STRING:
		add_string(out, value, depth);
		break;
	case JSON_INTEGER:
		buffer_printf(out, " %" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
		break;
	case JSON_REAL:
		buffer_printf(out, " %.15g\n", json_real_value(value));
		break;
	default:
		buffer_printf(out, " %s\n",
			      json_is_true(value)    ? "true"
			      : json_is_false(value) ? "false"
						     : "null");
		break;
	}
}

/* Appends a message's content: a text as its lines, several parts as a list. */
static void add_content(struct buffer *out, const json_t *content)
{
	const json_t *text = json_array_size(content) == 1 ? as_text(json_array_get(content, 0))
							   : as_text(content);

	if (text && !is_blob(json_string_value(text), json_string_length(text)))
		add_lines(out, json_string_value(text), json_string_length(text), 0);
	else if (json_is_array(content))
		add_list(out, content, 0);
	else if (json_is_object(content))
		add_object(out, content, 0, false, NULL);
	else
		add_value(out, content, 0);
}

static const json_t *content_of(const json_t *message)
{
	const json_t *content = json_object_get(message, "content");

	return content ? content : json_object_get(message, "parts");
}

static void add_message(struct buffer *out, const json_t *message)
{
	const json_t *content = content_of(message);
	const char *key;
	json_t *member;

	if (!json_is_object(message)) {
		add_content(out, message);
		return;
	}
	json_object_foreach((json_t *)message, key, member)
	{
		if (member == content || strcmp(key, "role") == 0 || is_dropped(key) ||
		    (strcmp(key, "type") == 0 &&
		     strcmp(json_string_value(member) ? json_string_value(member) : "",
			    "message") == 0))
			continue;
		add_key(out, key);
		add_value(out, member, 0);
	}
	if (content && !json_is_null(content))
		add_content(out, content);
}

/* --- parts of a body */

static void add_turn(struct tape_talk *talk, const char *role, struct buffer *text)
{
	struct tape_turn *turn;

	talk->turns = mem_resize(talk->turns, talk->count + 1, sizeof *talk->turns);
	turn = &talk->turns[talk->count];
	*turn = (struct tape_turn){ .size = text->used };
	/* The role must be a single word: it shares a line with others. */
	for (size_t i = 0; role[i] && i < sizeof turn->role - 1; i++)
		turn->role[i] = isalnum((unsigned char)role[i]) || role[i] == '_' ? role[i] : '-';
	if (!turn->role[0])
		snprintf(turn->role, sizeof turn->role, "message");
	(void)buffer_text(text);
	turn->text = text->data;
	*text = BUFFER_INIT(TEXT_MOST);
	tape_key(talk->count ? turn[-1].key : "", turn->role, turn->text, turn->size, turn->key);
	talk->count++;
}

static const char *role_of(const json_t *message)
{
	const char *role = jsonget_string(message, "role");
	const char *type = jsonget_string(message, "type");

	if (role)
		return role;
	return type ? type : "user";
}

static bool is_system(const json_t *message)
{
	const char *role = role_of(message);

	return strcmp(role, "system") == 0 || strcmp(role, "developer") == 0;
}

static void add_turns(struct tape_talk *talk, const json_t *messages, struct buffer *system)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TEXT_MOST);
	size_t index;
	json_t *message;

	if (json_is_string(messages)) {
		add_content(&text, messages);
		add_turn(talk, "user", &text);
	}
	json_array_foreach(messages, index, message)
	{
		if (is_system(message)) {
			add_message(system, message);
			continue;
		}
		text.used = 0;
		add_message(&text, message);
		add_turn(talk, role_of(message), &text);
	}
}

static void add_tool(struct tape_talk *talk, const json_t *tool)
{
	const json_t *declared = json_object_get(tool, "functionDeclarations");
	const json_t *inner = json_object_get(tool, "function");
	const char *name = jsonget_string(inner ? inner : tool, "name");
	size_t used = strlen(talk->tools);
	size_t index;
	json_t *item;

	if (!name)
		name = jsonget_string(tool, "type");
	json_array_foreach(declared, index, item)
	{
		add_tool(talk, item);
	}
	if (!name || used + strlen(name) + 2 > sizeof talk->tools)
		return;
	if (used)
		talk->tools[used++] = ' ';
	for (; *name; name++)
		talk->tools[used++] = (char)(isgraph((unsigned char)*name) ? *name : '-');
	talk->tools[used] = '\0';
}

static void add_system(struct tape_talk *talk, const json_t *body, struct buffer *system)
{
	static const char *const keys[] = { "system", "instructions", "systemInstruction",
					    "system_instruction", NULL };
	AUTO_BUFFER struct buffer plain = BUFFER_INIT(2 * (size_t)TEXT_MOST);
	char hex[SHA256_HEX];

	for (const char *const *key = keys; *key; key++) {
		const json_t *value = json_object_get(body, *key);

		if (value && !json_is_null(value))
			add_content(system, content_of(value) ? content_of(value) : value);
	}
	if (system->used == 0)
		return;
	tape_normalize(&plain, buffer_text(system), system->used);
	sha256_hex(buffer_text(&plain), plain.used, hex);
	snprintf(talk->system, sizeof talk->system, "%zu %.16s", system->used, hex);
}

static void read_body(struct tape_talk *talk, const json_t *body)
{
	static const char *const keys[] = { "messages", "input", "contents", NULL };
	const json_t *inner = json_object_get(body, "generateContentRequest");
	const json_t *previous = json_object_get(body, "previous_response_id");
	AUTO_BUFFER struct buffer system = BUFFER_INIT(TEXT_MOST);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TEXT_MOST);
	size_t index;
	json_t *tool;

	if (json_is_object(inner))
		body = inner;
	if (json_is_string(previous)) {
		buffer_add_text(&text, "previous_response_id:");
		add_value(&text, previous, 0);
		add_turn(talk, "previous", &text);
	}
	for (const char *const *key = keys; *key; key++)
		add_turns(talk, json_object_get(body, *key), &system);
	add_system(talk, body, &system);
	json_array_foreach(json_object_get(body, "tools"), index, tool)
	{
		add_tool(talk, tool);
	}
}

/* Only decoded text is compared, because JSON can escape any character. */
static void replace_in_turns(struct tape_talk *talk, const struct tape_names *names)
{
	bool changed = false;

	for (size_t i = 0; i < talk->count; i++) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(TEXT_MOST);
		struct tape_turn *turn = &talk->turns[i];

		replace_names(&text, turn->text, turn->size, names);
		if (text.used != turn->size ||
		    (text.used && memcmp(text.data, turn->text, text.used) != 0)) {
			(void)buffer_text(&text);
			free(turn->text);
			turn->text = text.data;
			turn->size = text.used;
			text = BUFFER_INIT(TEXT_MOST);
			changed = true;
		}
		if (changed)
			tape_key(i ? turn[-1].key : "", turn->role, turn->text, turn->size,
				 turn->key);
	}
}

void tape_talk_read(struct tape_talk *talk, const char *bytes, size_t size,
		    const struct tape_names *names)
{
	AUTO_BUFFER struct buffer body = BUFFER_INIT(2 * (size_t)TAPE_MOST);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TEXT_MOST);
	json_error_t ignored;
	json_t *read;

	if (size == 0)
		return;
	replace_names(&body, bytes, size, names);
	read = json_loadb(buffer_text(&body), body.used, JSON_ALLOW_NUL, &ignored);
	if (json_is_object(read)) {
		read_body(talk, read);
		replace_in_turns(talk, names);
	} else {
		add_lines(&text, body.data, body.used, 0);
		add_turn(talk, "raw", &text);
	}
	json_decref(read);
}

void tape_talk_release(struct tape_talk *talk)
{
	for (size_t i = 0; i < talk->count; i++)
		free(talk->turns[i].text);
	free(talk->turns);
	talk->turns = NULL;
	talk->count = 0;
}
