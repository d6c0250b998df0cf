/* Responses of Gemini: see form.h. */
#include "meter/form.h"

#include <string.h>

/* X(name, parent, key). The scanner reserves the first two rows. */
#define GEMINI(X)                                            \
	X(g_model, JSONSCAN_ROOT, "modelVersion")            \
	X(g_usage, JSONSCAN_ROOT, "usageMetadata")           \
	X(g_prompt, g_usage, "promptTokenCount")             \
	X(g_cached, g_usage, "cachedContentTokenCount")      \
	X(g_answer, g_usage, "candidatesTokenCount")         \
	X(g_thoughts, g_usage, "thoughtsTokenCount")         \
	X(g_tool_prompt, g_usage, "toolUsePromptTokenCount") \
	X(g_candidates, JSONSCAN_ROOT, "candidates")         \
	X(g_candidate, g_candidates, "[]")                   \
	X(g_finish, g_candidate, "finishReason")             \
	X(g_content, g_candidate, "content")                 \
	X(g_parts, g_content, "parts")                       \
	X(g_part, g_parts, "[]")                             \
	X(g_text, g_part, "text")                            \
	X(g_feedback, JSONSCAN_ROOT, "promptFeedback")       \
	X(g_blocked, g_feedback, "blockReason")              \
	X(g_error, JSONSCAN_ROOT, "error")                   \
	X(g_error_status, g_error, "status")                 \
	X(g_error_message, g_error, "message")               \
	X(g_error_details, g_error, "details")               \
	X(g_error_detail, g_error_details, "[]")             \
	X(g_error_reason, g_error_detail, "reason")          \
	X(g_error_delay, g_error_detail, "retryDelay")

#define NAME(name, parent, key) name,
#define ROW(name, parent, key)  [name] = JSONSCAN_NODE(parent, key),
enum { G_FIRST = JSONSCAN_ROOT, GEMINI(NAME) G_COUNT };
static const struct jsonscan_node nodes[] = { GEMINI(ROW) };

static void on_gemini(void *context, const struct jsonscan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;

	switch (value->node) {
	case g_model:
		form_word(value, usage->model, sizeof usage->model);
		break;
	case g_usage:
		if (value->kind == JSONSCAN_END)
			break;
		/* Only the last object counts. Numbers that are missing in it are 0. */
		reader->prompt = reader->cached = reader->tool_prompt = 0;
		reader->answer = reader->thoughts = 0;
		break;
	case g_prompt:
		form_prompt(reader, value);
		usage->has_output |= value->kind == JSONSCAN_NUMBER;
		break;
	case g_cached:
		form_number(value, &reader->cached);
		break;
	case g_tool_prompt:
		form_number(value, &reader->tool_prompt);
		break;
	case g_answer:
		form_number(value, &reader->answer);
		break;
	case g_thoughts:
		form_number(value, &reader->thoughts);
		break;
	case g_candidates:
		form_frame(reader, value);
		break;
	case g_finish:
	case g_blocked: /* takes the place of an answer */
		usage->ended |= value->kind == JSONSCAN_STRING;
		break;
	case g_text:
		form_text(reader, value);
		break;
	case g_error_status:
		form_word(value, usage->error, sizeof usage->error);
		break;
	case g_error_reason: /* after the status, which may only call the request invalid */
		if (strcmp(usage->error, "INVALID_ARGUMENT") == 0)
			form_word(value, usage->error, sizeof usage->error);
		break;
	case g_error_delay:
		form_time(value, usage->resets_in);
		break;
	case g_error_message:
		form_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
	form_divide(reader);
	usage->use.tokens[PRICE_INPUT] += reader->tool_prompt;
	usage->use.tokens[PRICE_OUTPUT] = reader->answer + reader->thoughts;
}

const struct form form_gemini = { nodes, G_COUNT, on_gemini, g_text };
