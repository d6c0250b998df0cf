/* What a model's answer says that was used: see usage.h. */
#include "meter/usage.h"

#include <string.h>

/* X(name, parent, key): the rows of one format; the first two are the scan's own. */
#define ANTHROPIC(X)                                              \
	X(a_type, SCAN_ROOT, "type")                              \
	X(a_model, SCAN_ROOT, "model")                            \
	X(a_usage, SCAN_ROOT, "usage")                            \
	X(a_input, a_usage, "input_tokens")                       \
	X(a_output, a_usage, "output_tokens")                     \
	X(a_write, a_usage, "cache_creation_input_tokens")        \
	X(a_read, a_usage, "cache_read_input_tokens")             \
	X(a_split, a_usage, "cache_creation")                     \
	X(a_5m, a_split, "ephemeral_5m_input_tokens")             \
	X(a_1h, a_split, "ephemeral_1h_input_tokens")             \
	X(a_tools, a_usage, "server_tool_use")                    \
	X(a_searches, a_tools, "web_search_requests")             \
	X(a_speed, a_usage, "speed")                              \
	X(a_geo, a_usage, "inference_geo")                        \
	X(a_message, SCAN_ROOT, "message")                        \
	X(a_start_model, a_message, "model")                      \
	X(a_start, a_message, "usage")                            \
	X(a_start_input, a_start, "input_tokens")                 \
	X(a_start_output, a_start, "output_tokens")               \
	X(a_start_write, a_start, "cache_creation_input_tokens")  \
	X(a_start_read, a_start, "cache_read_input_tokens")       \
	X(a_start_split, a_start, "cache_creation")               \
	X(a_start_5m, a_start_split, "ephemeral_5m_input_tokens") \
	X(a_start_1h, a_start_split, "ephemeral_1h_input_tokens") \
	X(a_start_speed, a_start, "speed")                        \
	X(a_start_geo, a_start, "inference_geo")                  \
	X(a_delta, SCAN_ROOT, "delta")                            \
	X(a_text, a_delta, "text")                                \
	X(a_thinking, a_delta, "thinking")                        \
	X(a_partial, a_delta, "partial_json")                     \
	X(a_content, SCAN_ROOT, "content")                        \
	X(a_block, a_content, "[]")                               \
	X(a_block_text, a_block, "text")                          \
	X(a_block_thinking, a_block, "thinking")                  \
	X(a_error, SCAN_ROOT, "error")                            \
	X(a_error_type, a_error, "type")                          \
	X(a_error_message, a_error, "message")

#define CHAT(X)                                        \
	X(c_model, SCAN_ROOT, "model")                 \
	X(c_usage, SCAN_ROOT, "usage")                 \
	X(c_prompt, c_usage, "prompt_tokens")          \
	X(c_completion, c_usage, "completion_tokens")  \
	X(c_details, c_usage, "prompt_tokens_details") \
	X(c_cached, c_details, "cached_tokens")        \
	X(c_written, c_details, "cache_write_tokens")  \
	X(c_tier, SCAN_ROOT, "service_tier")           \
	X(c_choices, SCAN_ROOT, "choices")             \
	X(c_choice, c_choices, "[]")                   \
	X(c_finish, c_choice, "finish_reason")         \
	X(c_delta, c_choice, "delta")                  \
	X(c_text, c_delta, "content")                  \
	X(c_reasoning, c_delta, "reasoning_content")   \
	X(c_calls, c_delta, "tool_calls")              \
	X(c_call, c_calls, "[]")                       \
	X(c_function, c_call, "function")              \
	X(c_arguments, c_function, "arguments")        \
	X(c_message, c_choice, "message")              \
	X(c_message_text, c_message, "content")        \
	X(c_error, SCAN_ROOT, "error")                 \
	X(c_error_type, c_error, "type")               \
	X(c_error_code, c_error, "code")               \
	X(c_error_message, c_error, "message")

#define RESPONSES(X)                                        \
	X(r_type, SCAN_ROOT, "type")                        \
	X(r_delta, SCAN_ROOT, "delta")                      \
	X(r_model, SCAN_ROOT, "model")                      \
	X(r_tier, SCAN_ROOT, "service_tier")                \
	X(r_status, SCAN_ROOT, "status")                    \
	X(r_usage, SCAN_ROOT, "usage")                      \
	X(r_input, r_usage, "input_tokens")                 \
	X(r_output, r_usage, "output_tokens")               \
	X(r_details, r_usage, "input_tokens_details")       \
	X(r_cached, r_details, "cached_tokens")             \
	X(r_written, r_details, "cache_write_tokens")       \
	X(r_items, SCAN_ROOT, "output")                     \
	X(r_item, r_items, "[]")                            \
	X(r_item_type, r_item, "type")                      \
	X(r_response, SCAN_ROOT, "response")                \
	X(r_in_model, r_response, "model")                  \
	X(r_in_tier, r_response, "service_tier")            \
	X(r_in_usage, r_response, "usage")                  \
	X(r_in_input, r_in_usage, "input_tokens")           \
	X(r_in_output, r_in_usage, "output_tokens")         \
	X(r_in_details, r_in_usage, "input_tokens_details") \
	X(r_in_cached, r_in_details, "cached_tokens")       \
	X(r_in_written, r_in_details, "cache_write_tokens") \
	X(r_in_items, r_response, "output")                 \
	X(r_in_item, r_in_items, "[]")                      \
	X(r_in_item_type, r_in_item, "type")                \
	X(r_in_error, r_response, "error")                  \
	X(r_in_error_code, r_in_error, "code")              \
	X(r_in_error_message, r_in_error, "message")        \
	X(r_error, SCAN_ROOT, "error")                      \
	X(r_error_type, r_error, "type")                    \
	X(r_error_code, r_error, "code")                    \
	X(r_error_message, r_error, "message")              \
	X(r_code, SCAN_ROOT, "code")                        \
	X(r_message, SCAN_ROOT, "message")

#define GEMINI(X)                                            \
	X(g_model, SCAN_ROOT, "modelVersion")                \
	X(g_usage, SCAN_ROOT, "usageMetadata")               \
	X(g_prompt, g_usage, "promptTokenCount")             \
	X(g_cached, g_usage, "cachedContentTokenCount")      \
	X(g_answer, g_usage, "candidatesTokenCount")         \
	X(g_thoughts, g_usage, "thoughtsTokenCount")         \
	X(g_tool_prompt, g_usage, "toolUsePromptTokenCount") \
	X(g_candidates, SCAN_ROOT, "candidates")             \
	X(g_candidate, g_candidates, "[]")                   \
	X(g_finish, g_candidate, "finishReason")             \
	X(g_content, g_candidate, "content")                 \
	X(g_parts, g_content, "parts")                       \
	X(g_part, g_parts, "[]")                             \
	X(g_text, g_part, "text")                            \
	X(g_error, SCAN_ROOT, "error")                       \
	X(g_error_status, g_error, "status")                 \
	X(g_error_message, g_error, "message")

#define NAME(name, parent, key) name,
#define ROW(name, parent, key)  [name] = { parent, key },
enum { A_FIRST = SCAN_ROOT, ANTHROPIC(NAME) A_COUNT };
enum { C_FIRST = SCAN_ROOT, CHAT(NAME) C_COUNT };
enum { R_FIRST = SCAN_ROOT, RESPONSES(NAME) R_COUNT };
enum { G_FIRST = SCAN_ROOT, GEMINI(NAME) G_COUNT };
static const struct scan_node anthropic[] = { ANTHROPIC(ROW) };
static const struct scan_node chat[] = { CHAT(ROW) };
static const struct scan_node responses[] = { RESPONSES(ROW) };
static const struct scan_node gemini[] = { GEMINI(ROW) };

static void take_text(struct usage_reader *reader, const struct scan_value *value)
{
	if (value->kind != SCAN_STRING)
		return;
	reader->usage.text_bytes += value->bytes;
	reader->usage.deltas++;
}

static void take_word(const struct scan_value *value, char *ret_word, size_t size)
{
	size_t kept = value->kept < size - 1 ? value->kept : size - 1;

	if (value->kind != SCAN_STRING)
		return;
	memcpy(ret_word, value->text, kept);
	ret_word[kept] = '\0';
}

static bool says(const struct scan_value *value, const char *word)
{
	return value->kind == SCAN_STRING && strcmp(value->text, word) == 0;
}

static void take_number(const struct scan_value *value, uint64_t *ret_number)
{
	if (value->kind == SCAN_NUMBER)
		*ret_number = value->number;
}

/* Writes whose lifetime is not said cost those of five minutes, unless others of an hour were said. */
static void divide_writes(struct usage_reader *reader)
{
	uint64_t split = reader->write_5m + reader->write_1h;
	uint64_t rest = reader->write_total > split ? reader->write_total - split : 0;
	uint64_t *tokens = reader->usage.use.tokens;

	tokens[PRICE_WRITE_5M] = reader->write_5m + (reader->write_1h ? 0 : rest);
	tokens[PRICE_WRITE_1H] = reader->write_1h + (reader->write_1h ? rest : 0);
}

static void take_anthropic(void *context, const struct scan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;
	bool number = value->kind == SCAN_NUMBER;

	switch (value->node) {
	case a_type:
		usage->ended |= says(value, "message_stop") || says(value, "error") ||
				(!reader->stream && says(value, "message"));
		break;
	case a_model:
	case a_start_model:
		take_word(value, usage->model, sizeof usage->model);
		break;
	case a_input:
	case a_start_input:
		take_number(value, &usage->use.tokens[PRICE_INPUT]);
		usage->has_input |= number;
		break;
	case a_output:
		usage->has_output |= number;
		/* fall through */
	case a_start_output: /* about 1, and no number that counts */
		take_number(value, &usage->use.tokens[PRICE_OUTPUT]);
		break;
	case a_read:
	case a_start_read:
		take_number(value, &usage->use.tokens[PRICE_READ]);
		break;
	case a_write:
	case a_start_write:
		take_number(value, &reader->write_total);
		divide_writes(reader);
		break;
	case a_5m:
	case a_start_5m:
		take_number(value, &reader->write_5m);
		divide_writes(reader);
		break;
	case a_1h:
	case a_start_1h:
		take_number(value, &reader->write_1h);
		divide_writes(reader);
		break;
	case a_searches:
		take_number(value, &usage->use.searches);
		break;
	case a_speed:
	case a_start_speed:
		usage->use.fast |= says(value, "fast");
		break;
	case a_geo:
	case a_start_geo:
		take_word(value, usage->use.geo, sizeof usage->use.geo);
		break;
	case a_text:
	case a_thinking:
	case a_partial:
	case a_block_text:
	case a_block_thinking:
		take_text(reader, value);
		break;
	case a_error_type:
		take_word(value, usage->error, sizeof usage->error);
		break;
	case a_error_message:
		take_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
}

/* Cached and written tokens are a part of the prompt. */
static void divide_prompt(struct usage_reader *reader)
{
	uint64_t *tokens = reader->usage.use.tokens;
	uint64_t prompt = reader->prompt;
	uint64_t cached = reader->cached < prompt ? reader->cached : prompt;
	uint64_t written = reader->written < prompt - cached ? reader->written : prompt - cached;

	tokens[PRICE_READ] = cached;
	tokens[PRICE_WRITE_5M] = written;
	tokens[PRICE_INPUT] = prompt - cached - written;
}

static void take_prompt(struct usage_reader *reader, const struct scan_value *value)
{
	take_number(value, &reader->prompt);
	reader->usage.has_input |= value->kind == SCAN_NUMBER;
}

static void take_answer(struct usage_reader *reader, const struct scan_value *value)
{
	take_number(value, &reader->usage.use.tokens[PRICE_OUTPUT]);
	reader->usage.has_output |= value->kind == SCAN_NUMBER;
}

static void take_chat(void *context, const struct scan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;

	switch (value->node) {
	case c_model:
		take_word(value, usage->model, sizeof usage->model);
		break;
	case c_usage:
		reader->has_usage |= value->kind == SCAN_OBJECT;
		break;
	case c_prompt:
		take_prompt(reader, value);
		break;
	case c_completion:
		take_answer(reader, value);
		break;
	case c_cached:
		take_number(value, &reader->cached);
		break;
	case c_written:
		take_number(value, &reader->written);
		break;
	case c_tier: /* what it costs is not known: as the dearest fast mode */
		usage->use.fast |= says(value, "priority");
		break;
	case c_choices:
		if (value->kind == SCAN_END)
			break;
		reader->has_choices = reader->empty_choices = value->kind == SCAN_LIST;
		break;
	case c_choice:
		reader->empty_choices = false;
		break;
	case c_finish:
		usage->ended |= value->kind == SCAN_STRING;
		break;
	case c_text:
	case c_reasoning:
	case c_arguments:
	case c_message_text:
		take_text(reader, value);
		break;
	case c_error_code:
		take_word(value, usage->error, sizeof usage->error);
		break;
	case c_error_type:
		if (!usage->error[0])
			take_word(value, usage->error, sizeof usage->error);
		break;
	case c_error_message:
		take_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
	divide_prompt(reader);
}

static bool ends_response(const struct scan_value *value)
{
	return says(value, "response.completed") || says(value, "response.incomplete") ||
	       says(value, "response.failed") || says(value, "error") || says(value, "completed") ||
	       says(value, "incomplete") || says(value, "failed");
}

static void take_responses(void *context, const struct scan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;

	switch (value->node) {
	case r_type:
	case r_status:
		usage->ended |= ends_response(value);
		break;
	case r_delta:
		take_text(reader, value);
		break;
	case r_model:
	case r_in_model:
		take_word(value, usage->model, sizeof usage->model);
		break;
	case r_tier:
	case r_in_tier:
		usage->use.fast |= says(value, "priority");
		break;
	case r_input:
	case r_in_input:
		take_prompt(reader, value);
		break;
	case r_output:
	case r_in_output:
		take_answer(reader, value);
		break;
	case r_cached:
	case r_in_cached:
		take_number(value, &reader->cached);
		break;
	case r_written:
	case r_in_written:
		take_number(value, &reader->written);
		break;
	case r_items:
	case r_in_items: /* the list is whole each time it comes */
		if (value->kind != SCAN_END)
			usage->use.searches = 0;
		break;
	case r_item_type:
	case r_in_item_type:
		usage->use.searches += says(value, "web_search_call");
		break;
	case r_code:
	case r_error_code:
	case r_in_error_code:
		take_word(value, usage->error, sizeof usage->error);
		break;
	case r_error_type:
		if (!usage->error[0])
			take_word(value, usage->error, sizeof usage->error);
		break;
	case r_message:
	case r_error_message:
	case r_in_error_message:
		take_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
	divide_prompt(reader);
}

static void take_gemini(void *context, const struct scan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;

	switch (value->node) {
	case g_model:
		take_word(value, usage->model, sizeof usage->model);
		break;
	case g_usage:
		if (value->kind == SCAN_END)
			break;
		/* What is not in the last one does not count: it stands for 0. */
		reader->prompt = reader->cached = reader->tool_prompt = 0;
		reader->answer = reader->thoughts = 0;
		break;
	case g_prompt:
		take_prompt(reader, value);
		usage->has_output |= value->kind == SCAN_NUMBER;
		break;
	case g_cached:
		take_number(value, &reader->cached);
		break;
	case g_tool_prompt:
		take_number(value, &reader->tool_prompt);
		break;
	case g_answer:
		take_number(value, &reader->answer);
		break;
	case g_thoughts:
		take_number(value, &reader->thoughts);
		break;
	case g_finish:
		usage->ended |= value->kind == SCAN_STRING;
		break;
	case g_text:
		take_text(reader, value);
		break;
	case g_error_status:
		take_word(value, usage->error, sizeof usage->error);
		break;
	case g_error_message:
		take_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
	divide_prompt(reader);
	usage->use.tokens[PRICE_INPUT] += reader->tool_prompt;
	usage->use.tokens[PRICE_OUTPUT] = reader->answer + reader->thoughts;
}

static const struct {
	const struct scan_node *nodes;
	size_t count;
	scan_fn *take;
	uint8_t text; /* the node in which a body that is not streamed has its text */
} formats[USAGE_FORMATS] = {
	[USAGE_ANTHROPIC] = { anthropic, A_COUNT, take_anthropic, a_block_text },
	[USAGE_CHAT] = { chat, C_COUNT, take_chat, c_message_text },
	[USAGE_RESPONSES] = { responses, R_COUNT, take_responses, r_delta },
	[USAGE_GEMINI] = { gemini, G_COUNT, take_gemini, g_text },
};

static void take_data(void *context, const char *bytes, size_t size)
{
	struct usage_reader *reader = context;

	scan_feed(&reader->scan, bytes, size);
}

static void end_event(void *context, size_t at)
{
	struct usage_reader *reader = context;
	bool extra = reader->has_usage && reader->has_choices && reader->empty_choices;

	reader->has_usage = reader->has_choices = reader->empty_choices = false;
	scan_reset(&reader->scan);
	if (reader->event)
		reader->event(reader->context, at, extra);
}

void usage_init(struct usage_reader *reader, enum usage_format format, bool stream)
{
	*reader = (struct usage_reader){ .format = format, .stream = stream };
	reader->scan = (struct scan){ .nodes = formats[format].nodes,
				      .count = formats[format].count,
				      .tell = formats[format].take,
				      .context = reader };
	reader->sse = (struct sse){ .data = take_data, .end = end_event, .context = reader };
}

void usage_feed(struct usage_reader *reader, const char *bytes, size_t size)
{
	if (reader->stream)
		sse_feed(&reader->sse, bytes, size);
	else
		scan_feed(&reader->scan, bytes, size);
}

uint64_t usage_estimate(const struct usage_reader *reader)
{
	const struct usage *usage = &reader->usage;
	uint64_t bytes = usage->text_bytes +
			 scan_pending(&reader->scan, formats[reader->format].text);
	uint64_t tokens = (bytes + 1) / 2;

	return tokens > usage->deltas ? tokens : usage->deltas;
}
