/* Responses of Anthropic Messages: see form.h. */
#include "meter/form.h"

/* X(name, parent, key). The scanner reserves the first two rows. */
#define ANTHROPIC(X)                                              \
	X(a_type, JSONSCAN_ROOT, "type")                          \
	X(a_model, JSONSCAN_ROOT, "model")                        \
	X(a_usage, JSONSCAN_ROOT, "usage")                        \
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
	X(a_message, JSONSCAN_ROOT, "message")                    \
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
	X(a_delta, JSONSCAN_ROOT, "delta")                        \
	X(a_text, a_delta, "text")                                \
	X(a_thinking, a_delta, "thinking")                        \
	X(a_partial, a_delta, "partial_json")                     \
	X(a_content, JSONSCAN_ROOT, "content")                    \
	X(a_block, a_content, "[]")                               \
	X(a_block_text, a_block, "text")                          \
	X(a_block_thinking, a_block, "thinking")                  \
	X(a_error, JSONSCAN_ROOT, "error")                        \
	X(a_error_type, a_error, "type")                          \
	X(a_error_message, a_error, "message")

#define NAME(name, parent, key) name,
#define ROW(name, parent, key)  [name] = JSONSCAN_NODE(parent, key),
enum { A_FIRST = JSONSCAN_ROOT, ANTHROPIC(NAME) A_COUNT };
static const struct jsonscan_node nodes[] = { ANTHROPIC(ROW) };

/* Cache writes of unknown lifetime are priced as five-minute writes, unless there are one-hour
 * writes. */
static void divide_writes(struct usage_reader *reader)
{
	uint64_t split = reader->write_5m + reader->write_1h;
	uint64_t rest = reader->write_total > split ? reader->write_total - split : 0;
	uint64_t *tokens = reader->usage.use.tokens;

	tokens[PRICE_WRITE_5M] = reader->write_5m + (reader->write_1h ? 0 : rest);
	tokens[PRICE_WRITE_1H] = reader->write_1h + (reader->write_1h ? rest : 0);
}

static void on_anthropic(void *context, const struct jsonscan_value *value)
{
	struct usage_reader *reader = context;
	struct usage *usage = &reader->usage;
	bool number = value->kind == JSONSCAN_NUMBER;

	switch (value->node) {
	case a_type:
		usage->ended |= form_says(value, "message_stop") || form_says(value, "error") ||
				(!reader->stream && form_says(value, "message"));
		break;
	case a_model:
	case a_start_model:
		form_word(value, usage->model, sizeof usage->model);
		break;
	case a_input:
	case a_start_input:
		form_number(value, &usage->use.tokens[PRICE_INPUT]);
		usage->has_input |= number;
		break;
	case a_output:
		usage->has_output |= number;
		/* fall through */
	case a_start_output: /* about 1: not the final number */
		form_number(value, &usage->use.tokens[PRICE_OUTPUT]);
		break;
	case a_read:
	case a_start_read:
		form_number(value, &usage->use.tokens[PRICE_READ]);
		break;
	case a_write:
	case a_start_write:
		form_number(value, &reader->write_total);
		divide_writes(reader);
		break;
	case a_5m:
	case a_start_5m:
		form_number(value, &reader->write_5m);
		divide_writes(reader);
		break;
	case a_1h:
	case a_start_1h:
		form_number(value, &reader->write_1h);
		divide_writes(reader);
		break;
	case a_searches:
		form_number(value, &usage->use.searches);
		break;
	case a_speed:
	case a_start_speed:
		usage->use.fast |= form_says(value, "fast");
		break;
	case a_geo:
	case a_start_geo:
		form_word(value, usage->use.geo, sizeof usage->use.geo);
		break;
	case a_text:
	case a_thinking:
	case a_partial:
	case a_block_text:
	case a_block_thinking:
		form_text(reader, value);
		break;
	case a_message:
	case a_delta:
	case a_content:
		form_frame(reader, value);
		break;
	case a_error_type:
		form_word(value, usage->error, sizeof usage->error);
		break;
	case a_error_message:
		form_word(value, usage->message, sizeof usage->message);
		break;
	default:
		break;
	}
}

const struct form form_anthropic = { nodes, A_COUNT, on_anthropic, a_block_text };
