/* Responses of OpenAI's Chat Completions and Responses APIs: see form.h. */
#include "meter/form.h"

/* X(name, parent, key). The scanner reserves the first two rows. */
#define CHAT(X)                                        \
	X(c_model, JSONSCAN_ROOT, "model")             \
	X(c_usage, JSONSCAN_ROOT, "usage")             \
	X(c_prompt, c_usage, "prompt_tokens")          \
	X(c_completion, c_usage, "completion_tokens")  \
	X(c_details, c_usage, "prompt_tokens_details") \
	X(c_cached, c_details, "cached_tokens")        \
	X(c_written, c_details, "cache_write_tokens")  \
	X(c_tier, JSONSCAN_ROOT, "service_tier")       \
	X(c_choices, JSONSCAN_ROOT, "choices")         \
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
	X(c_error, JSONSCAN_ROOT, "error")             \
	X(c_error_type, c_error, "type")               \
	X(c_error_code, c_error, "code")               \
	X(c_error_message, c_error, "message")         \
	X(c_error_at, c_error, "resets_at")            \
	X(c_error_in, c_error, "resets_in_seconds")

#define RESPONSES(X)                                        \
	X(r_type, JSONSCAN_ROOT, "type")                    \
	X(r_delta, JSONSCAN_ROOT, "delta")                  \
	X(r_model, JSONSCAN_ROOT, "model")                  \
	X(r_tier, JSONSCAN_ROOT, "service_tier")            \
	X(r_status, JSONSCAN_ROOT, "status")                \
	X(r_usage, JSONSCAN_ROOT, "usage")                  \
	X(r_input, r_usage, "input_tokens")                 \
	X(r_output, r_usage, "output_tokens")               \
	X(r_details, r_usage, "input_tokens_details")       \
	X(r_cached, r_details, "cached_tokens")             \
	X(r_written, r_details, "cache_write_tokens")       \
	X(r_items, JSONSCAN_ROOT, "output")                 \
	X(r_item, r_items, "[]")                            \
	X(r_item_type, r_item, "type")                      \
	X(r_response, JSONSCAN_ROOT, "response")            \
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
	X(r_in_error_at, r_in_error, "resets_at")           \
	X(r_in_error_in, r_in_error, "resets_in_seconds")   \
	X(r_error, JSONSCAN_ROOT, "error")                  \
	X(r_error_type, r_error, "type")                    \
	X(r_error_code, r_error, "code")                    \
	X(r_error_message, r_error, "message")              \
	X(r_error_at, r_error, "resets_at")                 \
	X(r_error_in, r_error, "resets_in_seconds")         \
	X(r_code, JSONSCAN_ROOT, "code")                    \
	X(r_message, JSONSCAN_ROOT, "message")

#define NAME(name, parent, key) name,
#define ROW(name, parent, key)  [name] = JSONSCAN_NODE(parent, key),
enum { C_FIRST = JSONSCAN_ROOT, CHAT(NAME) C_COUNT };
enum { R_FIRST = JSONSCAN_ROOT, RESPONSES(NAME) R_COUNT };
static const struct jsonscan_node chat[] = { CHAT(ROW) };
static const struct jsonscan_node responses[] = { RESPONSES(ROW) };

static void on_chat(void *context, const struct jsonscan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;

	switch (value->node) {
	case c_model:
		form_word(value, usage->model, sizeof usage->model);
		break;
	case c_usage:
		reader->has_usage |= value->kind == JSONSCAN_OBJECT;
		break;
	case c_prompt:
		form_prompt(reader, value);
		break;
	case c_completion:
		form_answer(reader, value);
		break;
	case c_cached:
		form_number(value, &reader->cached);
		break;
	case c_written:
		form_number(value, &reader->written);
		break;
	case c_tier: /* price unknown: counted as fast mode */
		usage->use.fast |= form_says(value, "priority");
		break;
	case c_choices:
		form_frame(reader, value);
		if (value->kind == JSONSCAN_END)
			break;
		reader->has_choices = reader->empty_choices = value->kind == JSONSCAN_LIST;
		break;
	case c_choice:
		reader->empty_choices = false;
		break;
	case c_finish:
		usage->ended |= value->kind == JSONSCAN_STRING;
		break;
	case c_text:
	case c_reasoning:
	case c_arguments:
	case c_message_text:
		form_text(reader, value);
		break;
	case c_error_code:
		form_word(value, usage->error, sizeof usage->error);
		break;
	case c_error_type:
		if (!usage->error[0])
			form_word(value, usage->error, sizeof usage->error);
		break;
	case c_error_at:
		form_time(value, usage->resets_at);
		break;
	case c_error_in:
		form_time(value, usage->resets_in);
		break;
	case c_error_message:
		form_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
	form_divide(reader);
}

static bool ends_response(const struct jsonscan_value *value)
{
	return form_says(value, "response.completed") || form_says(value, "response.incomplete") ||
	       form_says(value, "response.failed") || form_says(value, "error") ||
	       form_says(value, "completed") || form_says(value, "incomplete") ||
	       form_says(value, "failed");
}

static void on_responses(void *context, const struct jsonscan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;

	switch (value->node) {
	case r_type:
	case r_status:
		usage->ended |= ends_response(value);
		break;
	case r_delta:
		form_text(reader, value);
		break;
	case r_model:
	case r_in_model:
		form_word(value, usage->model, sizeof usage->model);
		break;
	case r_tier:
	case r_in_tier:
		usage->use.fast |= form_says(value, "priority");
		break;
	case r_input:
	case r_in_input:
		form_prompt(reader, value);
		break;
	case r_output:
	case r_in_output:
		form_answer(reader, value);
		break;
	case r_cached:
	case r_in_cached:
		form_number(value, &reader->cached);
		break;
	case r_written:
	case r_in_written:
		form_number(value, &reader->written);
		break;
	case r_response:
		form_frame(reader, value);
		break;
	case r_items:
	case r_in_items: /* each list is complete and replaces the last */
		form_frame(reader, value);
		if (value->kind != JSONSCAN_END)
			usage->use.searches = 0;
		break;
	case r_item_type:
	case r_in_item_type:
		usage->use.searches += form_says(value, "web_search_call");
		break;
	case r_code:
	case r_error_code:
	case r_in_error_code:
		form_word(value, usage->error, sizeof usage->error);
		break;
	case r_error_type:
		if (!usage->error[0])
			form_word(value, usage->error, sizeof usage->error);
		break;
	case r_error_at:
	case r_in_error_at:
		form_time(value, usage->resets_at);
		break;
	case r_error_in:
	case r_in_error_in:
		form_time(value, usage->resets_in);
		break;
	case r_message:
	case r_error_message:
	case r_in_error_message:
		form_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
	form_divide(reader);
}

const struct form form_chat = { chat, C_COUNT, on_chat, c_message_text };
const struct form form_responses = { responses, R_COUNT, on_responses, r_delta };
