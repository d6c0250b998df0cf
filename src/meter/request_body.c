/* Reads and edits the body of a request to a model: see request.h. */
#include "meter/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BODY(X)                                                     \
	X(b_model, JSONSCAN_ROOT, "model")                          \
	X(b_stream, JSONSCAN_ROOT, "stream")                        \
	X(b_max, JSONSCAN_ROOT, "max_tokens")                       \
	X(b_max_completion, JSONSCAN_ROOT, "max_completion_tokens") \
	X(b_max_output, JSONSCAN_ROOT, "max_output_tokens")         \
	X(b_n, JSONSCAN_ROOT, "n")                                  \
	X(b_speed, JSONSCAN_ROOT, "speed")                          \
	X(b_tier, JSONSCAN_ROOT, "service_tier")                    \
	X(b_background, JSONSCAN_ROOT, "background")                \
	X(b_previous, JSONSCAN_ROOT, "previous_response_id")        \
	X(b_conversation, JSONSCAN_ROOT, "conversation")            \
	X(b_prompt, JSONSCAN_ROOT, "prompt")                        \
	X(b_options, JSONSCAN_ROOT, "stream_options")               \
	X(b_include, b_options, "include_usage")                    \
	X(b_thinking, JSONSCAN_ROOT, "thinking")                    \
	X(b_thinking_budget, b_thinking, "budget_tokens")           \
	X(b_cached, JSONSCAN_ROOT, "cachedContent")                 \
	X(b_cached2, JSONSCAN_ROOT, "cached_content")               \
	X(b_config, JSONSCAN_ROOT, "generationConfig")              \
	X(b_config_max, b_config, "maxOutputTokens")                \
	X(b_config_max2, b_config, "max_output_tokens")             \
	X(b_config_n, b_config, "candidateCount")                   \
	X(b_config_n2, b_config, "candidate_count")                 \
	X(b_config2, JSONSCAN_ROOT, "generation_config")

/*
 * The places in a message that can reference content outside the body, by URL or id. Only these
 * places count; the same words in a tool's parameters or input mean nothing.
 *
 * X(name, parent, key, level, role). Blocks can be nested; one block per level is open.
 */
#define BLOCK(X, name, parent, level)                               \
	X(name, parent, "[]", level, IS_BLOCK)                      \
	X(name##_type, name, "type", level, SAYS_TYPE)              \
	X(name##_source, name, "source", level, IS_NOTHING)         \
	X(name##_kind, name##_source, "type", level, SAYS_KIND)     \
	X(name##_source_id, name##_source, "file_id", level, NAMES) \
	X(name##_file, name, "file", level, IS_NOTHING)             \
	X(name##_file_id, name##_file, "file_id", level, NAMES)     \
	X(name##_id, name, "file_id", level, NAMES)                 \
	X(name##_file_url, name, "file_url", level, NAMES)          \
	X(name##_image, name, "image_url", level, IS_IMAGE)         \
	X(name##_image_url, name##_image, "url", level, IS_IMAGE)

/* Google accepts both spellings. */
#define PART(X, name, parent, level)                                \
	X(name, parent, "[]", level, IS_BLOCK)                      \
	X(name##_data, name, "fileData", level, IS_NOTHING)         \
	X(name##_uri, name##_data, "fileUri", level, NAMES)         \
	X(name##_uri2, name##_data, "file_uri", level, NAMES)       \
	X(name##_type, name##_data, "mimeType", level, SAYS_TYPE)   \
	X(name##_type2, name##_data, "mime_type", level, SAYS_TYPE) \
	X(name##_data2, name, "file_data", level, IS_NOTHING)       \
	X(name##_uri3, name##_data2, "fileUri", level, NAMES)       \
	X(name##_uri4, name##_data2, "file_uri", level, NAMES)      \
	X(name##_type3, name##_data2, "mimeType", level, SAYS_TYPE) \
	X(name##_type4, name##_data2, "mime_type", level, SAYS_TYPE)

#define MESSAGES(X)                                                \
	X(m_messages, JSONSCAN_ROOT, "messages", 0, IS_NOTHING)    \
	X(m_message, m_messages, "[]", 0, IS_NOTHING)              \
	X(m_content, m_message, "content", 0, IS_NOTHING)          \
	BLOCK(X, m_block, m_content, 0)                            \
	X(m_parts, m_block_source, "content", 1, IS_NOTHING)       \
	BLOCK(X, m_part, m_parts, 1)                               \
	X(m_result, m_block, "content", 1, IS_NOTHING)             \
	BLOCK(X, m_inner, m_result, 1)                             \
	X(m_inner_parts, m_inner_source, "content", 2, IS_NOTHING) \
	BLOCK(X, m_inner_part, m_inner_parts, 2)

#define RESPONSES(X)                                          \
	X(r_input, JSONSCAN_ROOT, "input", 0, IS_NOTHING)     \
	BLOCK(X, r_item, r_input, 0)                          \
	X(r_content, r_item, "content", 1, IS_NOTHING)        \
	BLOCK(X, r_block, r_content, 1)                       \
	X(r_output, r_item, "output", 0, IS_NOTHING)          \
	X(r_output_id, r_output, "file_id", 0, NAMES)         \
	X(r_output_image, r_output, "image_url", 0, IS_IMAGE) \
	BLOCK(X, r_result, r_output, 1)

#define GEMINI(X)                                                        \
	X(g_contents, JSONSCAN_ROOT, "contents", 0, IS_LIST)             \
	X(g_content, g_contents, "[]", 0, IS_NOTHING)                    \
	X(g_parts, g_content, "parts", 0, IS_LIST)                       \
	PART(X, g_part, g_parts, 0)                                      \
	X(g_result, g_part, "functionResponse", 0, IS_NOTHING)           \
	X(g_result_parts, g_result, "parts", 1, IS_LIST)                 \
	PART(X, g_inner, g_result_parts, 1)                              \
	X(g_result2, g_part, "function_response", 0, IS_NOTHING)         \
	X(g_result_parts2, g_result2, "parts", 1, IS_LIST)               \
	PART(X, g_inner2, g_result_parts2, 1)                            \
	X(g_system, JSONSCAN_ROOT, "systemInstruction", 0, IS_NOTHING)   \
	X(g_system_parts, g_system, "parts", 0, IS_LIST)                 \
	PART(X, g_system_part, g_system_parts, 0)                        \
	X(g_system2, JSONSCAN_ROOT, "system_instruction", 0, IS_NOTHING) \
	X(g_system_parts2, g_system2, "parts", 0, IS_LIST)               \
	PART(X, g_system_part2, g_system_parts2, 0)

enum role {
	IS_NOTHING,
	IS_BLOCK,
	IS_LIST, /* the provider would read an object here, but we would not */
	/* "image", "input_image", "image/png": an image; "item_reference": kept at the provider */
	SAYS_TYPE,
	SAYS_KIND, /* "url" or "file": a reference */
	IS_IMAGE,  /* an image; a reference unless it is included ("data:") */
	NAMES,
};

#define NAME(name, parent, key)                   name,
#define ROW(name, parent, key)                    [name] = JSONSCAN_NODE(parent, key),
#define DEEP_NAME(name, parent, key, level, role) name,
#define DEEP_ROW(name, parent, key, level, role)  [name] = JSONSCAN_NODE(parent, key),
#define DEEP_ROLE(name, parent, key, level, role) [(name)-B_COUNT] = { level, role },
enum {
	B_FIRST = JSONSCAN_ROOT,
	BODY(NAME) B_COUNT,
	B_LAST = B_COUNT - 1,
	MESSAGES(DEEP_NAME) RESPONSES(DEEP_NAME) GEMINI(DEEP_NAME) NODES
};
static const struct jsonscan_node nodes[] = { BODY(ROW) MESSAGES(DEEP_ROW) RESPONSES(DEEP_ROW)
						      GEMINI(DEEP_ROW) };
static const struct {
	uint8_t level;
	uint8_t role;
} roles[] = { MESSAGES(DEEP_ROLE) RESPONSES(DEEP_ROLE) GEMINI(DEEP_ROLE) };
_Static_assert(B_COUNT < 32, "seen has a bit for each key");
_Static_assert(NODES < 256, "a node number fits into a byte");

/* Returns true if this key limits the output in this format. */
static bool names_limit(enum usage_format format, size_t node)
{
	switch (format) {
	case USAGE_ANTHROPIC:
		return node == b_max;
	case USAGE_CHAT:
		return node == b_max || node == b_max_completion;
	case USAGE_RESPONSES:
		return node == b_max_output;
	default:
		return node == b_config_max || node == b_config_max2;
	}
}

static void read_limit(struct request_body *body, const struct jsonscan_value *value)
{
	struct request_spot *spot = body->limit[0].end ? &body->limit[1] : &body->limit[0];
	bool whole = value->kind == JSONSCAN_NUMBER &&
		     strspn(value->text, "0123456789") == value->kept;

	if (value->kind == JSONSCAN_END)
		return;
	/* A null is overwritten when a limit is set: a limit inserted before it would not take
	 * effect. */
	if (value->kind == JSONSCAN_NULL) {
		*spot = (struct request_spot){ value->start, value->end, value->kind,
					       REQUEST_UNSAID, false };
		return;
	}
	if (!whole)
		body->wrong = "the maximum number of tokens must be a whole number";
	*spot = (struct request_spot){ value->start, value->end, value->kind, value->number,
				       false };
}

static void read_answers(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_NULL)
		return;
	if (value->kind != JSONSCAN_NUMBER || value->number == 0 || value->number > 128)
		body->wrong = "the number of answers must be between 1 and 128";
	else
		body->answers = value->number;
}

static void record_spot(struct request_spot *spot, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_END)
		spot->empty = value->number == 0;
	else
		*spot = (struct request_spot){ value->start, value->end, value->kind, 0, false };
}

static void read_model(struct request_body *body, const struct jsonscan_value *value)
{
	if (body->route->provider == PROVIDER_GEMINI)
		return; /* it is in the path */
	if (value->kind != JSONSCAN_STRING || value->bytes != value->kept || value->kept == 0 ||
	    value->kept >= REQUEST_MODEL || strlen(value->text) != value->kept) {
		body->wrong = "the model must be a name of at most 127 bytes";
		return;
	}
	memcpy(body->model, value->text, value->kept + 1);
}

static void read_block(struct request_body *body, const struct jsonscan_value *value)
{
	struct request_block *block = &body->blocks[roles[value->node - B_COUNT].level];
	bool text = value->kind == JSONSCAN_STRING;

	switch (roles[value->node - B_COUNT].role) {
	case IS_BLOCK:
		if (value->kind == JSONSCAN_END && block->named) {
			body->images += block->image;
			body->documents += !block->image;
		}
		*block = (struct request_block){ 0 };
		break;
	case IS_LIST:
		if (value->kind == JSONSCAN_OBJECT)
			body->wrong = "contents and parts must be lists";
		break;
	case SAYS_TYPE:
		block->image |= text && strstr(value->text, "image");
		block->named |= text && strcmp(value->text, "item_reference") == 0;
		break;
	case SAYS_KIND:
		block->named |= text && (strcmp(value->text, "url") == 0 ||
					 strcmp(value->text, "file") == 0);
		break;
	case IS_IMAGE:
		block->image |= text;
		block->named |= text && strncmp(value->text, "data:", 5) != 0;
		break;
	case NAMES:
		block->named |= text;
		break;
	default:
		break;
	}
}

static void on_value(void *context, const struct jsonscan_value *value)
{
	struct request_body *body = context;
	bool set = value->kind != JSONSCAN_NULL && value->kind != JSONSCAN_FALSE;

	if (value->node >= B_COUNT) {
		read_block(body, value);
		return;
	}
	if (value->kind != JSONSCAN_END) {
		if (body->seen & UINT32_C(1) << value->node)
			body->wrong = "a key occurs twice";
		body->seen |= UINT32_C(1) << value->node;
	}
	if (names_limit(body->route->format, value->node)) {
		read_limit(body, value);
		return;
	}
	switch (value->node) {
	case b_model:
		read_model(body, value);
		break;
	case b_stream:
		body->stream |= value->kind == JSONSCAN_TRUE;
		break;
	case b_n:
	case b_config_n:
	case b_config_n2:
		read_answers(body, value);
		break;
	case b_speed:
		body->fast |= value->kind == JSONSCAN_STRING && strcmp(value->text, "fast") == 0;
		break;
	case b_tier:
		body->fast |= value->kind == JSONSCAN_STRING &&
			      strcmp(value->text, "priority") == 0;
		break;
	case b_background:
		if (set)
			body->wrong = "a background response cannot be metered";
		break;
	case b_previous:
	case b_conversation:
	case b_prompt:
	case b_cached:
	case b_cached2:
		body->elsewhere |= set;
		break;
	case b_options:
		record_spot(&body->options, value);
		break;
	case b_include:
		record_spot(&body->usage, value);
		body->asks_usage |= value->kind == JSONSCAN_TRUE;
		break;
	case b_thinking_budget:
		record_spot(&body->thinking, value);
		body->thinking.number = value->number;
		break;
	case b_config:
		if (value->kind != JSONSCAN_OBJECT && value->kind != JSONSCAN_END)
			body->wrong = "generationConfig must be an object";
		record_spot(&body->config, value);
		break;
	case b_config2: /* the other spelling: two parsers would see two limits */
		body->wrong = "generation_config must be written generationConfig";
		break;
	default:
		break;
	}
}

void request_body_init(struct request_body *body, const struct request_target *target)
{
	*body = (struct request_body){ .route = target->route, .answers = 1 };
	body->stream = target->route->stream;
	memcpy(body->model, target->model, sizeof body->model);
	body->scan = (struct jsonscan){
		.nodes = nodes, .count = NODES, .report = on_value, .context = body
	};
}

void request_body_feed(struct request_body *body, const char *bytes, size_t size)
{
	for (size_t i = 0; !body->root && i < size; i++)
		if (bytes[i] == '{')
			body->root = body->scan.offset + i + 1;
	jsonscan_feed(&body->scan, bytes, size);
}

const char *request_body_end(struct request_body *body)
{
	uint64_t most = REQUEST_UNSAID;

	if (body->scan.wrong || !jsonscan_done(&body->scan))
		return "the body is not valid JSON";
	if (body->scan.folded)
		return "a key differs in case from the provider's spelling";
	if (body->wrong)
		return body->wrong;
	if (body->scan.members[0] == 0 || body->scan.list[0])
		return "the body must be a JSON object";
	if (!body->model[0] && body->route->billed)
		return "the body does not name a model";
	for (size_t i = 0; i < 2; i++)
		if (body->limit[i].end)
			most = i == 0 || body->limit[i].number > most ? body->limit[i].number
								      : most;
	body->most = most;
	return NULL;
}

/* Keeps the edits sorted. */
static void add_edit(struct request_body *body, uint64_t at, uint64_t remove, const char *text)
{
	size_t i = body->edit_count++;

	for (; i > 0 && body->edits[i - 1].at > at; i--)
		body->edits[i] = body->edits[i - 1];
	body->edits[i] = (struct request_edit){ .at = at, .remove = remove };
	snprintf(body->edits[i].text, sizeof body->edits[i].text, "%s", text);
}

void request_body_limit(struct request_body *body, uint64_t tokens)
{
	static const char *const keys[USAGE_FORMATS] = {
		[USAGE_ANTHROPIC] = "max_tokens",
		[USAGE_CHAT] = "max_completion_tokens",
		[USAGE_RESPONSES] = "max_output_tokens",
		[USAGE_GEMINI] = "maxOutputTokens",
	};
	bool nested = body->route->format == USAGE_GEMINI;
	char text[64];

	body->most = tokens;
	/* The thinking budget must be below the limit, or the provider refuses the request. */
	if (body->thinking.end && body->thinking.kind == JSONSCAN_NUMBER &&
	    body->thinking.number >= tokens) {
		snprintf(text, sizeof text, "%-*" PRIu64,
			 (int)(body->thinking.end - body->thinking.start), tokens / 2);
		add_edit(body, body->thinking.start, body->thinking.end - body->thinking.start,
			 text);
	}
	for (size_t i = 0; i < 2; i++) {
		const struct request_spot *spot = &body->limit[i];

		if (!spot->end || spot->number <= tokens)
			continue;
		/* Pad the number with blanks, so that nothing else moves. */
		snprintf(text, sizeof text, "%-*" PRIu64, (int)(spot->end - spot->start), tokens);
		add_edit(body, spot->start, spot->end - spot->start, text);
	}
	if (body->limit[0].end)
		return;
	snprintf(text, sizeof text, "%s\"%s\":%" PRIu64 "%s%s",
		 nested && !body->config.end ? "\"generationConfig\":{" : "",
		 keys[body->route->format], tokens, nested && !body->config.end ? "}" : "",
		 body->config.end && body->config.empty ? "" : ",");
	add_edit(body, nested && body->config.end ? body->config.start + 1 : body->root, 0, text);
}

void request_body_ask_usage(struct request_body *body)
{
	const struct request_spot *options = &body->options;

	if (body->route->format != USAGE_CHAT || !body->stream || body->asks_usage)
		return;
	if (body->usage.end)
		add_edit(body, body->usage.start, body->usage.end - body->usage.start, "true");
	else if (options->end && options->kind == JSONSCAN_OBJECT)
		add_edit(body, options->start + 1, 0,
			 options->empty ? "\"include_usage\":true" : "\"include_usage\":true,");
	else if (options->end)
		add_edit(body, options->start, options->end - options->start,
			 "{\"include_usage\":true}");
	else
		add_edit(body, body->root, 0, "\"stream_options\":{\"include_usage\":true},");
}

uint64_t request_body_elsewhere(const struct request_body *body)
{
	uint64_t tokens = body->documents * REQUEST_ELSEWHERE + body->images * REQUEST_IMAGE +
			  (body->elsewhere ? REQUEST_ELSEWHERE : 0);

	return tokens < REQUEST_WINDOW ? tokens : REQUEST_WINDOW;
}

uint64_t request_body_floor(const struct request_body *body)
{
	return body->thinking.end ? REQUEST_THINKING : REQUEST_FLOOR;
}

int64_t request_body_growth(const struct request_body *body)
{
	int64_t growth = 0;

	for (size_t i = 0; i < body->edit_count; i++)
		growth += (int64_t)strlen(body->edits[i].text) - (int64_t)body->edits[i].remove;
	return growth;
}
