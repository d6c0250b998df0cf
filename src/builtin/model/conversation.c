/* A conversation with a model: see conversation.h. */
#include "builtin/model/conversation.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[BLOCK_KINDS] = {
	[BLOCK_TEXT] = "text",
	[BLOCK_CALL] = "call",
	[BLOCK_RESULT] = "result",
	[BLOCK_OPAQUE] = "opaque",
};

static void block_release(struct conversation_block *block)
{
	buffer_release(&block->text);
	free(block->id);
	free(block->name);
	free(block->raw);
	free(block->signature);
	*block = (struct conversation_block){ 0 };
}

void conversation_message_release(struct conversation_message *message)
{
	for (size_t i = 0; i < message->count; i++)
		block_release(&message->blocks[i]);
	free(message->blocks);
	*message = (struct conversation_message){ 0 };
}

struct conversation_block *conversation_message_add(struct conversation_message *message,
						    enum conversation_block_kind kind)
{
	struct conversation_block *block;

	if (message->count == CONVERSATION_BLOCKS)
		return NULL;
	message->blocks = mem_resize(message->blocks, message->count + 1, sizeof *message->blocks);
	block = &message->blocks[message->count++];
	*block = (struct conversation_block){ .kind = kind,
					      .text = BUFFER_INIT(CONVERSATION_BLOCK) };
	return block;
}

size_t conversation_message_calls(const struct conversation_message *message)
{
	size_t calls = 0;

	for (size_t i = 0; i < message->count; i++)
		calls += message->blocks[i].kind == BLOCK_CALL;
	return calls;
}

void conversation_message_text(const struct conversation_message *message, struct buffer *out)
{
	for (size_t i = 0; i < message->count; i++) {
		struct conversation_block *block = &message->blocks[i];

		if (block->kind != BLOCK_TEXT || block->text.used == 0)
			continue;
		if (out->used)
			buffer_add_text(out, "\n\n");
		buffer_add(out, block->text.data, block->text.used);
	}
}

void conversation_release(struct conversation *conversation)
{
	for (size_t i = 0; i < conversation->count; i++)
		conversation_message_release(&conversation->items[i]);
	free(conversation->items);
	*conversation = (struct conversation){ 0 };
}

int conversation_add(struct conversation *conversation, struct conversation_message *message,
		     struct error *err)
{
	if (conversation->count == CONVERSATION_MESSAGES)
		return error_set(err, "the conversation has more than %d messages",
				 CONVERSATION_MESSAGES);
	conversation->items = mem_resize(conversation->items, conversation->count + 1,
					 sizeof *conversation->items);
	conversation->items[conversation->count++] = *message;
	*message = (struct conversation_message){ 0 };
	return 0;
}

int conversation_add_text(struct conversation *conversation, const char *text, size_t size,
			  struct error *err)
{
	struct conversation_message message = { 0 };

	buffer_add(&conversation_message_add(&message, BLOCK_TEXT)->text, text, size);
	if (conversation_add(conversation, &message, err) == 0)
		return 0;
	conversation_message_release(&message);
	return -1;
}

void conversation_remove(struct conversation *conversation, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		conversation_message_release(&conversation->items[i]);
	memmove(conversation->items + from, conversation->items + to,
		(conversation->count - to) * sizeof *conversation->items);
	conversation->count -= to - from;
}

static void write_block(const struct conversation_block *block, struct buffer *out)
{
	buffer_printf(out, "{\"kind\":\"%s\",\"text\":", kind_names[block->kind]);
	text_json_bytes(out, block->text.data ? block->text.data : "", block->text.used);
	if (block->id) {
		buffer_add_text(out, ",\"id\":");
		text_json(out, block->id);
	}
	if (block->name) {
		buffer_add_text(out, ",\"name\":");
		text_json(out, block->name);
	}
	buffer_printf(out, "%s%s}", block->failed ? ",\"failed\":true" : "",
		      block->dropped ? ",\"dropped\":true" : "");
}

void conversation_write(const struct conversation *conversation, struct buffer *out)
{
	buffer_add_text(out, "[");
	for (size_t i = 0; i < conversation->count; i++) {
		const struct conversation_message *message = &conversation->items[i];

		buffer_printf(out, "%s{\"role\":\"%s\",\"blocks\":[", i ? ",\n" : "",
			      message->model ? "model" : "user");
		for (size_t k = 0; k < message->count; k++) {
			buffer_add_text(out, k ? "," : "");
			write_block(&message->blocks[k], out);
		}
		buffer_add_text(out, "]}");
	}
	buffer_add_text(out, "]\n");
}

static bool is_object(const char *text, size_t size)
{
	json_t *value = json_loadb(text, size, 0, NULL);
	bool is = json_is_object(value);

	json_decref(value);
	return is;
}

static int read_block(const json_t *from, struct conversation_message *message)
{
	const char *kind = jsonget_string(from, "kind");
	const json_t *text = json_object_get(from, "text");
	const char *id = jsonget_string(from, "id");
	const char *name = jsonget_string(from, "name");
	struct conversation_block *block;
	size_t i = 0;

	while (kind && i < BLOCK_KINDS && strcmp(kind_names[i], kind) != 0)
		i++;
	if (!kind || i == BLOCK_KINDS || !json_is_string(text) ||
	    json_string_length(text) > CONVERSATION_BLOCK)
		return -1;
	if ((i == BLOCK_CALL && (!id || !name)) || (i == BLOCK_RESULT && !id))
		return -1;
	/* These are copied into requests verbatim. */
	if ((i == BLOCK_CALL || i == BLOCK_OPAQUE) &&
	    !is_object(json_string_value(text), json_string_length(text)))
		return -1;
	if (message->model ? i == BLOCK_RESULT : i == BLOCK_CALL || i == BLOCK_OPAQUE)
		return -1;
	block = conversation_message_add(message, i);
	if (!block)
		return -1;
	buffer_add(&block->text, json_string_value(text), json_string_length(text));
	block->id = id ? mem_dup(id) : NULL;
	block->name = name ? mem_dup(name) : NULL;
	block->failed = jsonget_flag(from, "failed");
	block->dropped = jsonget_flag(from, "dropped");
	return 0;
}

/* Returns whether each call has its result, in the same order, and each result its call. */
static bool is_answered(const struct conversation_message *calls,
			const struct conversation_message *results)
{
	size_t k = 0;

	for (size_t i = 0; calls && i < calls->count; i++) {
		if (calls->blocks[i].kind != BLOCK_CALL)
			continue;
		while (results && k < results->count && results->blocks[k].kind != BLOCK_RESULT)
			k++;
		if (!results || k == results->count ||
		    strcmp(results->blocks[k++].id, calls->blocks[i].id) != 0)
			return false;
	}
	for (; results && k < results->count; k++)
		if (results->blocks[k].kind == BLOCK_RESULT)
			return false;
	return true;
}

static bool is_sound(const struct conversation *conversation)
{
	if (conversation->count == 0 || conversation->items[0].model)
		return false;
	for (size_t i = 0; i < conversation->count; i++) {
		const struct conversation_message *message = &conversation->items[i];
		const struct conversation_message *next = i + 1 < conversation->count ? message + 1
										      : NULL;

		if (message->model && !is_answered(message, next && !next->model ? next : NULL))
			return false;
		if (!message->model && (i == 0 || !message[-1].model) &&
		    !is_answered(NULL, message))
			return false;
	}
	return true;
}

static int read_talk(const json_t *from, struct conversation *conversation, struct error *err)
{
	size_t index;
	const json_t *item;

	json_array_foreach(from, index, item)
	{
		const char *role = jsonget_string(item, "role");
		struct conversation_message message = { .model = role &&
								 strcmp(role, "model") == 0 };
		size_t number;
		const json_t *block;
		bool wrong = !role;

		json_array_foreach(json_object_get(item, "blocks"), number, block)
		{
			wrong = wrong || read_block(block, &message) < 0;
		}
		if (wrong || conversation_add(conversation, &message, err) < 0) {
			conversation_message_release(&message);
			return error_set(err, "message %zu of the session is invalid", index + 1);
		}
	}
	return is_sound(conversation) ? 0
				      : error_set(err, "the session is not a valid conversation");
}

int conversation_read(const char *bytes, size_t size, struct conversation *ret_conversation,
		      struct error *err)
{
	struct conversation conversation = { 0 };
	json_t *root = json_loadb(bytes, size, 0, NULL);
	int result = read_talk(root, &conversation, err);

	json_decref(root);
	if (result < 0)
		conversation_release(&conversation);
	else
		*ret_conversation = conversation;
	return result;
}
