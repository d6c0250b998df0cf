/* The two model protocols: see dialect.h. */
#include "builtin/model/dialect.h"

#include "builtin/tool/tool.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <string.h>

static void add_text(struct buffer *out, const struct conversation_block *block,
		     const char *instead)
{
	if (block->text.used)
		text_json_bytes(out, block->text.data, block->text.used);
	else
		text_json(out, instead);
}

static void add_raw(struct buffer *out, const struct conversation_block *block)
{
	if (block->text.used)
		buffer_add(out, block->text.data, block->text.used);
	else
		buffer_add_text(out, "{}");
}

static const char cached[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

static void add_anthropic_block(struct buffer *out, const struct conversation_block *block,
				bool cache)
{
	switch (block->kind) {
	case BLOCK_TEXT:
		buffer_add_text(out, "{\"type\":\"text\",\"text\":");
		add_text(out, block, "(nothing)");
		break;
	case BLOCK_CALL:
		buffer_add_text(out, "{\"type\":\"tool_use\",\"id\":");
		text_json(out, block->id);
		buffer_add_text(out, ",\"name\":");
		text_json(out, block->name);
		buffer_add_text(out, ",\"input\":");
		add_raw(out, block);
		break;
	case BLOCK_RESULT:
		buffer_add_text(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
		text_json(out, block->id);
		buffer_add_text(out, ",\"content\":");
		add_text(out, block, "(no output)");
		if (block->failed)
			buffer_add_text(out, ",\"is_error\":true");
		break;
	default:
		add_raw(out, block);
		return;
	}
	buffer_printf(out, "%s}", cache ? cached : "");
}

/* Cache markers go on the last two user messages, so that the longest common prefix is cached. */
static bool is_marked(const struct conversation *conversation, size_t index)
{
	size_t behind = 0;

	if (conversation->items[index].model)
		return false;
	for (size_t i = index + 1; i < conversation->count; i++)
		behind += !conversation->items[i].model;
	return behind < 2;
}

/* Providers also refuse a text that consists of blanks. */
static bool is_empty(const struct conversation_block *block)
{
	if (block->kind != BLOCK_TEXT)
		return false;
	for (size_t i = 0; i < block->text.used; i++)
		if (!strchr(" \t\r\n", block->text.data[i]) || !block->text.data[i])
			return false;
	return true;
}

static void add_anthropic_message(struct buffer *out, const struct conversation_message *message,
				  bool cache)
{
	size_t written = 0;
	size_t last = 0;

	for (size_t i = 0; i < message->count; i++)
		if (!is_empty(&message->blocks[i]))
			last = i;
	buffer_printf(out, "{\"role\":\"%s\",\"content\":[", message->model ? "assistant" : "user");
	for (size_t i = 0; i < message->count; i++) {
		if (is_empty(&message->blocks[i]))
			continue;
		buffer_add_text(out, written++ ? "," : "");
		add_anthropic_block(out, &message->blocks[i], cache && i == last);
	}
	if (!written)
		buffer_add_text(out, "{\"type\":\"text\",\"text\":\"(nothing)\"}");
	buffer_add_text(out, "]}");
}

static void write_anthropic(const struct dialect_request *request, struct buffer *out)
{
	buffer_add_text(out, "{\"model\":");
	text_json(out, request->model);
	buffer_printf(out,
		      ",\"max_tokens\":%" PRIu64
		      ",\"stream\":true,\"system\":[{\"type\":\"text\",\"text\":",
		      request->most);
	text_json(out, request->system);
	buffer_printf(out, "%s}],\"tools\":[", cached);
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		const struct tool *tool = tool_at(i);

		buffer_printf(out, "%s{\"name\":\"%s\",\"description\":", i ? "," : "", tool->name);
		text_json(out, tool->about);
		buffer_printf(out, ",\"input_schema\":%s%s}", tool->schema,
			      i + 1 == TOOL_COUNT ? cached : "");
	}
	buffer_printf(out, "]%s,\"messages\":[",
		      request->no_tools ? ",\"tool_choice\":{\"type\":\"none\"}" : "");
	for (size_t i = 0; i < request->conversation->count; i++) {
		buffer_add_text(out, i ? "," : "");
		add_anthropic_message(out, &request->conversation->items[i],
				      is_marked(request->conversation, i));
	}
	buffer_add_text(out, "]}");
}

/* In this protocol results are separate messages, and come before the user's text. */
static void add_chat_user(struct buffer *out, const struct conversation_message *message)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(DIALECT_REQUEST);

	for (size_t i = 0; i < message->count; i++) {
		const struct conversation_block *block = &message->blocks[i];

		if (block->kind != BLOCK_RESULT)
			continue;
		buffer_add_text(out, ",{\"role\":\"tool\",\"tool_call_id\":");
		text_json(out, block->id);
		buffer_add_text(out, ",\"content\":");
		if (block->failed) {
			AUTO_BUFFER struct buffer failed = BUFFER_INIT(CONVERSATION_BLOCK + 16);

			buffer_add_text(&failed, "Error: ");
			buffer_add(&failed, block->text.data, block->text.used);
			text_json_bytes(out, failed.data, failed.used);
		} else {
			add_text(out, block, "(no output)");
		}
		buffer_add_text(out, "}");
	}
	conversation_message_text(message, &text);
	if (!text.used)
		return;
	buffer_add_text(out, ",{\"role\":\"user\",\"content\":");
	text_json_bytes(out, text.data, text.used);
	buffer_add_text(out, "}");
}

static void add_chat_model(struct buffer *out, const struct conversation_message *message)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(DIALECT_REQUEST);
	size_t calls = 0;

	conversation_message_text(message, &text);
	buffer_add_text(out, ",{\"role\":\"assistant\",\"content\":");
	if (text.used)
		text_json_bytes(out, text.data, text.used);
	else
		buffer_add_text(out,
				conversation_message_calls(message) ? "null" : "\"(nothing)\"");
	for (size_t i = 0; i < message->count; i++) {
		const struct conversation_block *block = &message->blocks[i];

		if (block->kind != BLOCK_CALL)
			continue;
		buffer_add_text(out, calls++ ? "," : ",\"tool_calls\":[");
		buffer_add_text(out, "{\"id\":");
		text_json(out, block->id);
		buffer_add_text(out, ",\"type\":\"function\",\"function\":{\"name\":");
		text_json(out, block->name);
		buffer_add_text(out, ",\"arguments\":");
		add_text(out, block, "{}");
		buffer_add_text(out, "}}");
	}
	buffer_add_text(out, calls ? "]}" : "}");
}

static void write_chat(const struct dialect_request *request, struct buffer *out)
{
	buffer_add_text(out, "{\"model\":");
	text_json(out, request->model);
	buffer_printf(out,
		      ",\"%s\":%" PRIu64
		      ",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"tools\":[",
		      request->local ? "max_tokens" : "max_completion_tokens", request->most);
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		const struct tool *tool = tool_at(i);

		buffer_printf(
			out,
			"%s{\"type\":\"function\",\"function\":{\"name\":\"%s\",\"description\":",
			i ? "," : "", tool->name);
		text_json(out, tool->about);
		buffer_printf(out, ",\"parameters\":%s}}", tool->schema);
	}
	buffer_printf(out, "]%s,\"messages\":[{\"role\":\"system\",\"content\":",
		      request->no_tools ? ",\"tool_choice\":\"none\"" : "");
	text_json(out, request->system);
	buffer_add_text(out, "}");
	for (size_t i = 0; i < request->conversation->count; i++) {
		const struct conversation_message *message = &request->conversation->items[i];

		if (message->model)
			add_chat_model(out, message);
		else
			add_chat_user(out, message);
	}
	buffer_add_text(out, "]}");
}

const struct dialect dialect_anthropic = {
	.provider = PROVIDER_ANTHROPIC,
	.path = "/v1/messages",
	.models_path = "/v1/models",
	.lines = "anthropic-version: 2023-06-01\r\n",
	.model = PROVIDER_ANTHROPIC_MODEL,
	.reader = { USAGE_ANTHROPIC, reply_read_anthropic },
	.write = write_anthropic,
};

const struct dialect dialect_chat = {
	.provider = PROVIDER_OPENAI,
	.path = "/chat/completions",
	.models_path = "/models",
	.lines = "",
	.model = PROVIDER_OPENAI_MODEL,
	.reader = { USAGE_CHAT, reply_read_chat },
	.write = write_chat,
};
