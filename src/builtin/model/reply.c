/* Reads a model's reply: see reply.h. */
#include "builtin/model/reply.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 64, ID = 128 };

static unsigned int hex_unit(const char *at, size_t size)
{
	unsigned int unit = 0;

	if (size < 6 || at[0] != '\\' || at[1] != 'u')
		return 0;
	for (size_t i = 2; i < 6; i++) {
		char c = at[i];

		if (c >= '0' && c <= '9')
			unit = unit * 16 + (unsigned int)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			unit = unit * 16 + (unsigned int)((c | 32) - 'a') + 10;
		else
			return 0;
	}
	return unit;
}

/* Appends bytes as JSON that jansson accepts: without invalid UTF-8, lone surrogates or NULs. */
static void repair_text(const char *bytes, size_t size, struct buffer *out)
{
	static const char unknown[] = "\xef\xbf\xbd";
	size_t done = 0;

	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		size_t length = text_utf8(bytes + at, size - at, &point);
		const char *instead = NULL;

		if (length == 0) {
			length = 1;
			instead = unknown;
		} else if (bytes[at] == '\\') {
			unsigned int first = hex_unit(bytes + at, size - at);
			unsigned int second = first >= 0xd800 && first < 0xdc00
						      ? hex_unit(bytes + at + 6, size - at - 6)
						      : 0;

			length = at + 1 < size ? 2 : 1;
			if (second >= 0xdc00 && second < 0xe000) {
				length = 12;
			} else if ((first >= 0xd800 && first < 0xe000) ||
				   (size - at >= 6 && memcmp(bytes + at, "\\u0000", 6) == 0)) {
				length = 6;
				instead = unknown;
			}
		}
		if (instead) {
			buffer_add(out, bytes + done, at - done);
			buffer_add_text(out, instead);
			done = at + length;
		}
		at += length;
	}
	buffer_add(out, bytes + done, size - done);
}

static void read_event(struct reply *answer)
{
	AUTO_BUFFER struct buffer repaired = BUFFER_INIT(3 * REPLY_EVENT);
	json_t *event;

	while (answer->event.used && answer->event.data[answer->event.used - 1] == '\n')
		answer->event.used--;
	if (answer->event.used == 6 && memcmp(answer->event.data, "[DONE]", 6) == 0) {
		answer->ended = true;
		return;
	}
	if (buffer_overflowed(&answer->event)) {
		answer->damaged++;
		return;
	}
	repair_text(answer->event.data, answer->event.used, &repaired);
	event = json_loadb(repaired.data, repaired.used, 0, NULL);
	if (json_is_object(event))
		answer->reader->read(answer, event);
	else
		answer->damaged++;
	json_decref(event);
}

static void on_data(void *context, const char *bytes, size_t size)
{
	buffer_add(&((struct reply *)context)->event, bytes, size);
}

static void on_end(void *context, size_t at)
{
	struct reply *answer = context;

	(void)at;
	if (answer->event.used)
		read_event(answer);
	/* Do not keep the memory of a rare large event. */
	buffer_release(&answer->event);
	answer->event = BUFFER_INIT(REPLY_EVENT);
}

void reply_init(struct reply *answer, const struct reply_reader *reader)
{
	*answer = (struct reply){ .reader = reader,
				  .message = { .model = true },
				  .error = BUFFER_INIT(2048),
				  .sse = { .data = on_data, .end = on_end, .context = answer },
				  .event = BUFFER_INIT(REPLY_EVENT) };
	usage_init(&answer->usage, reader->format, true);
}

void reply_release(struct reply *answer)
{
	conversation_message_release(&answer->message);
	buffer_release(&answer->error);
	buffer_release(&answer->event);
}

void reply_feed(struct reply *answer, const char *bytes, size_t size)
{
	usage_feed(&answer->usage, bytes, size);
	sse_feed(&answer->sse, bytes, size);
}

/* Appends to a block's text, up to the limits of a reply. */
static void add_text(struct reply *answer, struct conversation_block *block, const json_t *text)
{
	const char *bytes = json_string_value(text);
	size_t size = json_string_length(text);
	size_t room = answer->kept < REPLY_BYTES ? REPLY_BYTES - answer->kept : 0;

	if (room > REPLY_BLOCK - block->text.used)
		room = REPLY_BLOCK - block->text.used;
	if (size > room) {
		answer->cut = true;
		for (size = room; size && ((unsigned char)bytes[size] & 0xc0) == 0x80;)
			size--;
	}
	answer->kept += size;
	if (size)
		buffer_add(&block->text, bytes, size);
}

static void add_error(struct reply *answer, const json_t *error)
{
	const char *message = jsonget_string(error, "message");
	const char *type = jsonget_string(error, "type");

	if (answer->error.used)
		return;
	if (!message)
		message = json_string_value(error);
	buffer_printf(&answer->error, "%.200s%s%.1500s", type ? type : "", type ? ": " : "",
		      message ? message : "the provider reports an error in the stream");
}

static struct conversation_block *block_at(struct reply *answer, const json_t *number)
{
	for (size_t i = 0; i < answer->message.count; i++)
		if (answer->message.blocks[i].number == (size_t)json_integer_value(number))
			return &answer->message.blocks[i];
	return NULL;
}

/* Thinking blocks have a signature that makes them usable; they are sent back unchanged. */
static void begin_block(struct reply *answer, const json_t *event)
{
	const json_t *from = json_object_get(event, "content_block");
	const char *type = jsonget_string(from, "type");
	const json_t *number = json_object_get(event, "index");
	const char *id = jsonget_string(from, "id");
	const char *name = jsonget_string(from, "name");
	enum conversation_block_kind kind = BLOCK_OPAQUE;
	struct conversation_block *block;

	if (!type || block_at(answer, number))
		return;
	if (strcmp(type, "text") == 0)
		kind = BLOCK_TEXT;
	else if (strcmp(type, "tool_use") == 0)
		kind = BLOCK_CALL;
	block = conversation_message_add(&answer->message, kind);
	if (!block) {
		answer->cut = true;
		return;
	}
	block->number = (size_t)json_integer_value(number);
	if (kind == BLOCK_TEXT) {
		add_text(answer, block, json_object_get(from, "text"));
	} else if (kind == BLOCK_CALL) {
		block->id = mem_dup(id ? id : "");
		block->name = mem_dup(name ? name : "");
		/* Most servers send the arguments in pieces, some all at once. */
		if (json_object_size(json_object_get(from, "input")) > 0)
			block->raw = json_dumps(json_object_get(from, "input"), JSON_COMPACT);
	} else {
		block->raw = json_dumps(from, JSON_COMPACT);
	}
}

/* Sets a string in an opaque block. */
static void complete(struct conversation_block *block, const char *key, const char *text,
		     size_t size)
{
	json_t *object = json_loads(block->raw ? block->raw : "{}", 0, NULL);

	if (!object)
		return;
	json_object_set_new(object, key, json_stringn(text, size));
	free(block->raw);
	block->raw = json_dumps(object, JSON_COMPACT);
	json_decref(object);
}

static void extend_block(struct reply *answer, const json_t *event)
{
	const json_t *delta = json_object_get(event, "delta");
	struct conversation_block *block = block_at(answer, json_object_get(event, "index"));
	const json_t *text = json_object_get(delta, "text");
	const json_t *arguments = json_object_get(delta, "partial_json");
	const json_t *thinking = json_object_get(delta, "thinking");
	const json_t *signature = json_object_get(delta, "signature");

	if (!block)
		return;
	if (block->kind == BLOCK_TEXT && json_is_string(text)) {
		add_text(answer, block, text);
	} else if (block->kind == BLOCK_CALL && json_is_string(arguments)) {
		add_text(answer, block, arguments);
	} else if (block->kind == BLOCK_OPAQUE && json_is_string(thinking)) {
		add_text(answer, block, thinking); /* inserted at the end */
	} else if (block->kind == BLOCK_OPAQUE && json_is_string(signature)) {
		free(block->signature);
		block->signature = mem_dup(json_string_value(signature));
	}
}

static enum reply_stop stop_of(const char *word)
{
	static const struct {
		const char *word;
		enum reply_stop stop;
	} stops[] = {
		{ "max_tokens", REPLY_LENGTH },
		{ "length", REPLY_LENGTH },
		{ "model_context_window_exceeded", REPLY_WINDOW },
		{ "pause_turn", REPLY_PAUSE },
		{ "refusal", REPLY_REFUSAL },
		{ "content_filter", REPLY_REFUSAL },
	};

	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		if (strcmp(stops[i].word, word) == 0)
			return stops[i].stop;
	return REPLY_DONE;
}

void reply_read_anthropic(struct reply *answer, const json_t *event)
{
	const char *type = jsonget_string(event, "type");
	const char *stop = jsonget_string(json_object_get(event, "delta"), "stop_reason");

	if (!type)
		answer->damaged++;
	else if (strcmp(type, "content_block_start") == 0)
		begin_block(answer, event);
	else if (strcmp(type, "content_block_delta") == 0)
		extend_block(answer, event);
	else if (strcmp(type, "message_delta") == 0 && stop)
		answer->stop = stop_of(stop);
	else if (strcmp(type, "message_stop") == 0)
		answer->ended = true;
	else if (strcmp(type, "error") == 0)
		add_error(answer, json_object_get(event, "error"));
}

/*
 * Returns the call that a piece belongs to. Some servers number all calls 0 and differ only in the
 * ids.
 */
static struct conversation_block *call_of(struct reply *answer, const json_t *piece)
{
	const char *id = jsonget_string(piece, "id");
	const json_t *function = json_object_get(piece, "function");
	const char *name = jsonget_string(function, "name");
	size_t number = (size_t)jsonget_number(piece, "index");
	struct conversation_block *block = NULL;

	for (size_t i = 0; i < answer->message.count; i++)
		if (answer->message.blocks[i].kind == BLOCK_CALL &&
		    answer->message.blocks[i].number == number)
			block = &answer->message.blocks[i];
	if (block && (!id || !*id || !*block->id || strcmp(block->id, id) == 0))
		return block;
	if ((!name || !*name) && (!id || !*id))
		return block;
	block = conversation_message_add(&answer->message, BLOCK_CALL);
	if (!block) {
		answer->cut = true;
		return NULL;
	}
	block->number = number;
	block->id = mem_dup(id ? id : "");
	block->name = mem_dup(name ? name : "");
	return block;
}

static void read_delta(struct reply *answer, const json_t *delta)
{
	const json_t *text = json_object_get(delta, "content");
	struct conversation_message *message = &answer->message;
	size_t index;
	const json_t *piece;

	if (json_string_length(text)) {
		struct conversation_block *block = message->count
							   ? &message->blocks[message->count - 1]
							   : NULL;

		if (!block || block->kind != BLOCK_TEXT)
			block = conversation_message_add(message, BLOCK_TEXT);
		if (block)
			add_text(answer, block, text);
	}
	json_array_foreach(json_object_get(delta, "tool_calls"), index, piece)
	{
		const json_t *arguments = json_object_get(json_object_get(piece, "function"),
							  "arguments");
		struct conversation_block *block = call_of(answer, piece);

		if (block && json_is_string(arguments)) {
			add_text(answer, block, arguments);
		} else if (block && json_is_object(arguments)) {
			free(block->raw);
			block->raw = json_dumps(arguments, JSON_COMPACT);
		}
	}
}

void reply_read_chat(struct reply *answer, const json_t *event)
{
	const json_t *choice = json_array_get(json_object_get(event, "choices"), 0);
	const char *stop = jsonget_string(choice, "finish_reason");
	const json_t *error = json_object_get(event, "error");

	if (error && !json_is_null(error))
		add_error(answer, error);
	read_delta(answer, json_object_get(choice, "delta"));
	if (stop) {
		answer->stop = stop_of(stop);
		answer->ended = true;
	}
}

/*
 * Arguments must be a JSON object. Others are kept for the error message and sent back as an empty
 * object.
 */
static void check_arguments(struct conversation_block *block)
{
	json_t *object;

	if (block->text.used == 0)
		buffer_add_text(&block->text, block->raw ? block->raw : "{}");
	free(block->raw);
	block->raw = NULL;
	object = json_loadb(block->text.data, block->text.used, 0, NULL);
	if (!json_is_object(object)) {
		block->broken = true;
		block->raw = mem_dup(buffer_text(&block->text));
		json_decref(object);
		object = json_object();
	}

	AUTO_FREE char *text = json_dumps(object, JSON_COMPACT);

	buffer_release(&block->text);
	block->text = BUFFER_INIT(CONVERSATION_BLOCK);
	buffer_add_text(&block->text, text ? text : "{}");
	json_decref(object);
}

static void check_opaque(struct conversation_block *block)
{
	if (block->signature)
		complete(block, "signature", block->signature, strlen(block->signature));
	free(block->signature);
	block->signature = NULL;
	if (block->text.used)
		complete(block, "thinking", block->text.data, block->text.used);
	buffer_release(&block->text);
	block->text = BUFFER_INIT(CONVERSATION_BLOCK);
	buffer_add_text(&block->text, block->raw ? block->raw : "{}");
	free(block->raw);
	block->raw = NULL;
}

/* Providers refuse tool names with unusual characters, and some models add a prefix to the name. */
static void check_name(struct conversation_block *block)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	char *last = block->name + strcspn(block->name, ".:/");
	char *name;

	while (*last && last[1 + strcspn(last + 1, ".:/")])
		last += 1 + strcspn(last + 1, ".:/");
	name = strndup(*last ? last + 1 : block->name, NAME);
	for (char *at = name + strspn(name, letters); *at; at += strspn(at, letters))
		*at = '_';
	free(block->name);
	block->name = *name ? name : mem_dup("unknown");
	if (!*name)
		free(name);
}

/* The id links a call to its result: it must be a valid word, unique in the reply. */
static bool is_good_id(const struct conversation_message *message,
		       const struct conversation_block *block)
{
	size_t size = strlen(block->id);

	if (size == 0 || size > ID)
		return false;
	for (size_t i = 0; i < size; i++)
		if (block->id[i] <= 0x20 || block->id[i] > 0x7e)
			return false;
	for (const struct conversation_block *at = message->blocks;
	     at < message->blocks + message->count; at++)
		if (at->kind == BLOCK_CALL && at != block && strcmp(at->id, block->id) == 0)
			return false;
	return true;
}

static void check_id(const struct conversation_message *message, struct conversation_block *block,
		     size_t number)
{
	for (; !is_good_id(message, block); number++) {
		free(block->id);
		block->id = mem_format("call_%zu", number);
	}
}

void reply_end(struct reply *answer, size_t calls)
{
	for (size_t i = 0; i < answer->message.count; i++) {
		struct conversation_block *block = &answer->message.blocks[i];

		if (block->kind == BLOCK_OPAQUE)
			check_opaque(block);
		if (block->kind != BLOCK_CALL)
			continue;
		check_arguments(block);
		check_name(block);
		check_id(&answer->message, block, ++calls);
	}
}
