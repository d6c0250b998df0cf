/* What the body of a request to a model says, and how it is changed: see request.h. */
#include "meter/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BODY(X)                                                 \
	X(b_model, SCAN_ROOT, "model")                          \
	X(b_stream, SCAN_ROOT, "stream")                        \
	X(b_max, SCAN_ROOT, "max_tokens")                       \
	X(b_max_completion, SCAN_ROOT, "max_completion_tokens") \
	X(b_max_output, SCAN_ROOT, "max_output_tokens")         \
	X(b_n, SCAN_ROOT, "n")                                  \
	X(b_speed, SCAN_ROOT, "speed")                          \
	X(b_tier, SCAN_ROOT, "service_tier")                    \
	X(b_background, SCAN_ROOT, "background")                \
	X(b_previous, SCAN_ROOT, "previous_response_id")        \
	X(b_conversation, SCAN_ROOT, "conversation")            \
	X(b_prompt, SCAN_ROOT, "prompt")                        \
	X(b_options, SCAN_ROOT, "stream_options")               \
	X(b_include, b_options, "include_usage")                \
	X(b_thinking, SCAN_ROOT, "thinking")                    \
	X(b_thinking_budget, b_thinking, "budget_tokens")       \
	X(b_cached, SCAN_ROOT, "cachedContent")                 \
	X(b_cached2, SCAN_ROOT, "cached_content")               \
	X(b_config, SCAN_ROOT, "generationConfig")              \
	X(b_config_max, b_config, "maxOutputTokens")            \
	X(b_config_max2, b_config, "max_output_tokens")         \
	X(b_config_n, b_config, "candidateCount")               \
	X(b_config_n2, b_config, "candidate_count")             \
	X(b_config2, SCAN_ROOT, "generation_config")

#define NAME(name, parent, key) name,
#define ROW(name, parent, key)  [name] = { parent, key },
enum { B_FIRST = SCAN_ROOT, BODY(NAME) B_COUNT };
static const struct scan_node nodes[] = { BODY(ROW) };
_Static_assert(B_COUNT < 32, "seen has a bit for each");

/* Which keys name the limit of output, by format. */
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

static void take_limit(struct request_body *body, const struct scan_value *value)
{
	struct request_spot *spot = body->limit[0].end ? &body->limit[1] : &body->limit[0];
	bool whole = value->kind == SCAN_NUMBER && strspn(value->text, "0123456789") == value->kept;

	if (value->kind == SCAN_END)
		return;
	/* Written over when there is a limit: one that was put in before it would not hold. */
	if (value->kind == SCAN_NULL) {
		*spot = (struct request_spot){ value->start, value->end, value->kind,
					       REQUEST_UNSAID, false };
		return;
	}
	if (!whole)
		body->wrong = "the largest number of tokens is not a whole number";
	*spot = (struct request_spot){ value->start, value->end, value->kind, value->number,
				       false };
}

static void take_answers(struct request_body *body, const struct scan_value *value)
{
	if (value->kind == SCAN_NULL)
		return;
	if (value->kind != SCAN_NUMBER || value->number == 0 || value->number > 128)
		body->wrong = "the number of answers is not between 1 and 128";
	else
		body->answers = value->number;
}

static void take_spot(struct request_spot *spot, const struct scan_value *value)
{
	if (value->kind == SCAN_END)
		spot->empty = value->number == 0;
	else
		*spot = (struct request_spot){ value->start, value->end, value->kind, 0, false };
}

static void take_model(struct request_body *body, const struct scan_value *value)
{
	if (body->route->provider == REQUEST_GEMINI)
		return; /* it is in the path */
	if (value->kind != SCAN_STRING || value->bytes != value->kept || value->kept == 0 ||
	    value->kept >= REQUEST_MODEL || strlen(value->text) != value->kept) {
		body->wrong = "the model is not a name of at most 127 bytes";
		return;
	}
	memcpy(body->model, value->text, value->kept + 1);
}

static void take(void *context, const struct scan_value *value)
{
	struct request_body *body = context;
	bool set = value->kind != SCAN_NULL && value->kind != SCAN_FALSE;

	if (value->kind != SCAN_END) {
		if (body->seen & UINT32_C(1) << value->node)
			body->wrong = "a key stands there twice";
		body->seen |= UINT32_C(1) << value->node;
	}
	if (names_limit(body->route->format, value->node)) {
		take_limit(body, value);
		return;
	}
	switch (value->node) {
	case b_model:
		take_model(body, value);
		break;
	case b_stream:
		body->stream |= value->kind == SCAN_TRUE;
		break;
	case b_n:
	case b_config_n:
	case b_config_n2:
		take_answers(body, value);
		break;
	case b_speed:
		body->fast |= value->kind == SCAN_STRING && strcmp(value->text, "fast") == 0;
		break;
	case b_tier:
		body->fast |= value->kind == SCAN_STRING && strcmp(value->text, "priority") == 0;
		break;
	case b_background:
		if (set)
			body->wrong = "an answer in the background cannot be metered";
		break;
	case b_previous:
	case b_conversation:
	case b_prompt:
	case b_cached:
	case b_cached2:
		body->elsewhere |= set;
		break;
	case b_options:
		take_spot(&body->options, value);
		break;
	case b_include:
		take_spot(&body->usage, value);
		body->asks_usage |= value->kind == SCAN_TRUE;
		break;
	case b_thinking_budget:
		take_spot(&body->thinking, value);
		body->thinking.number = value->number;
		break;
	case b_config:
		if (value->kind != SCAN_OBJECT && value->kind != SCAN_END)
			body->wrong = "generationConfig is not an object";
		take_spot(&body->config, value);
		break;
	case b_config2: /* the other spelling of the same: two readers would see two limits */
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
	body->scan =
		(struct scan){ .nodes = nodes, .count = B_COUNT, .tell = take, .context = body };
}

void request_body_feed(struct request_body *body, const char *bytes, size_t size)
{
	for (size_t i = 0; !body->root && i < size; i++)
		if (bytes[i] == '{')
			body->root = body->scan.offset + i + 1;
	scan_feed(&body->scan, bytes, size);
}

const char *request_body_end(struct request_body *body)
{
	uint64_t most = REQUEST_UNSAID;

	if (body->scan.wrong || !scan_done(&body->scan))
		return "the body is not JSON";
	if (body->scan.folded)
		return "a key is written in other letters than the provider does";
	if (body->wrong)
		return body->wrong;
	if (body->scan.members[0] == 0 || body->scan.list[0])
		return "the body is not an object";
	if (!body->model[0] && body->route->billed)
		return "the body names no model";
	for (size_t i = 0; i < 2; i++)
		if (body->limit[i].end)
			most = i == 0 || body->limit[i].number > most ? body->limit[i].number
								      : most;
	body->most = most;
	return NULL;
}

/* Keeps edits sorted. */
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
	/* The part for thinking must be smaller than the whole, or the provider refuses it. */
	if (body->thinking.end && body->thinking.kind == SCAN_NUMBER &&
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
		/* The rest of the number becomes blanks, so that nothing else moves. */
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
	else if (options->end && options->kind == SCAN_OBJECT)
		add_edit(body, options->start + 1, 0,
			 options->empty ? "\"include_usage\":true" : "\"include_usage\":true,");
	else if (options->end)
		add_edit(body, options->start, options->end - options->start,
			 "{\"include_usage\":true}");
	else
		add_edit(body, body->root, 0, "\"stream_options\":{\"include_usage\":true},");
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
