/* Requests in OpenAI's formats, Chat Completions and Responses: see schema.h. */
#include "meter/schema.h"

#define ROOT JSONSCAN_ROOT

static const char no_audio[] = "audio has another price";
static const char no_count[] = "the number of its searches is not in the answer";
static const char no_bound[] = "its cost has no upper bound";
static const char no_prompt[] = "a stored prompt can contain tools, which the gateway cannot see";
static const char no_later[] = "a background response cannot be metered";
static const char no_network[] = "a container at the provider is not behind the fence";
static const char cached[] = "in_memory in-memory 24h";

static const char message_keys[] =
	"role name tool_calls tool_call_id refusal function_call reasoning reasoning_content "
	"reasoning_details reasoning_text reasoning_opaque thinking thinking_blocks signature "
	"encrypted_content annotations cache_control prefix partial phase id logprobs "
	"extra_content provider_specific_fields";
static const char part_keys[] = "text refusal cache_control thinking reasoning signature "
				"annotations logprobs prompt_cache_breakpoint";
static const char item_keys[] =
	"role status text annotations logprobs refusal detail filename call_id name namespace "
	"arguments input summary encrypted_content action actions pending_safety_checks "
	"acknowledged_safety_checks operation phase execution max_output_length caller created_by "
	"server_label error approval_request_id approve reason ghost_commit author recipient "
	"metadata end_turn internal_chat_message_metadata_passthrough prompt_cache_breakpoint";
static const char chat_tool_keys[] = "function custom strict cache_control";
static const char tool_keys[] =
	"name description parameters strict format defer_loading server_label server_description "
	"headers authorization allowed_tools require_approval filters search_context_size "
	"user_location search_content_types display_width display_height output_schema execution "
	"input_schema annotations allowed_callers";

/* X: a member of both formats that has no effect outside the answer. */
#define BOTH(X, start)                                                              \
	X(start##_metadata, ROOT, "metadata", 0, SCHEMA_PASS, 0, NULL)              \
	X(start##_parallel, ROOT, "parallel_tool_calls", 0, SCHEMA_PASS, 0, NULL)   \
	X(start##_cache_key, ROOT, "prompt_cache_key", 0, SCHEMA_PASS, 0, NULL)     \
	X(start##_safety, ROOT, "safety_identifier", 0, SCHEMA_PASS, 0, NULL)       \
	X(start##_store, ROOT, "store", 0, SCHEMA_PASS, 0, NULL)                    \
	X(start##_temperature, ROOT, "temperature", 0, SCHEMA_PASS, 0, NULL)        \
	X(start##_choice, ROOT, "tool_choice", 0, SCHEMA_PASS, 0, NULL)             \
	X(start##_logprobs, ROOT, "top_logprobs", 0, SCHEMA_PASS, 0, NULL)          \
	X(start##_top_p, ROOT, "top_p", 0, SCHEMA_PASS, 0, NULL)                    \
	X(start##_user, ROOT, "user", 0, SCHEMA_PASS, 0, NULL)                      \
	X(start##_model, ROOT, "model", 0, SCHEMA_MODEL, 0, NULL)                   \
	X(start##_stream, ROOT, "stream", 0, SCHEMA_STREAM, 0, NULL)                \
	X(start##_tier, ROOT, "service_tier", 0, SCHEMA_TIER, 0, NULL)              \
	X(start##_cache, ROOT, "prompt_cache_options", 0, SCHEMA_PASS, 0, NULL)     \
	X(start##_keep, ROOT, "prompt_cache_retention", 0, SCHEMA_WORDS, 0, cached) \
	X(start##_reasoning, ROOT, "reasoning", 0, SCHEMA_PASS, 0, NULL)            \
	X(start##_mode, start##_reasoning, "mode", 0, SCHEMA_WORDS, 0, "standard default")

/* The parts of a content block that can refer to content elsewhere. */
#define REFERENCES(X, start, block)                                              \
	X(start##_type, block, "type", 0, SCHEMA_TYPE, 0, NULL)                  \
	X(start##_within, block, "content", block, SCHEMA_BLOCK, 0, NULL)        \
	X(start##_id, block, "file_id", 0, SCHEMA_FILE, 0, NULL)                 \
	X(start##_url, block, "file_url", 0, SCHEMA_URL, 0, NULL)                \
	X(start##_bytes, block, "data", 0, SCHEMA_DATA, 0, NULL)                 \
	X(start##_data, block, "file_data", 0, SCHEMA_DATA, 0, NULL)             \
	X(start##_image, block, "image_url", 0, SCHEMA_IMAGE_URL, 0, "detail")   \
	X(start##_image_url, start##_image, "url", 0, SCHEMA_IMAGE_URL, 0, NULL) \
	X(start##_audio, block, "input_audio", 0, SCHEMA_NEVER, 0, no_audio)     \
	X(start##_file, block, "file", 0, SCHEMA_CLOSED, 0, "filename")          \
	X(start##_file_id, start##_file, "file_id", 0, SCHEMA_FILE, 0, NULL)     \
	X(start##_file_url, start##_file, "file_url", 0, SCHEMA_URL, 0, NULL)    \
	X(start##_file_data, start##_file, "file_data", 0, SCHEMA_DATA, 0, NULL)

/* A tool, with the tools of a namespace. */
#define TOOL(X, start, tools, keys)                                              \
	X(start##_tool, tools, "[]", 0, SCHEMA_TOOL, 0, keys)                    \
	X(start##_tool_type, start##_tool, "type", 0, SCHEMA_TOOL_TYPE, 0, NULL) \
	X(start##_server, start##_tool, "server_url", 0, SCHEMA_MCP_URL, 0, NULL)

#define CHAT(X)                                                                      \
	BOTH(X, c)                                                                   \
	X(c_messages, ROOT, "messages", 0, SCHEMA_LIST, 0, NULL)                     \
	X(c_message, c_messages, "[]", 0, SCHEMA_CLOSED, 0, message_keys)            \
	X(c_content, c_message, "content", 0, SCHEMA_BLOCK, 0, part_keys)            \
	X(c_block, c_content, "[]", c_content, SCHEMA_BLOCK, 0, NULL)                \
	REFERENCES(X, c_part, c_content)                                             \
	X(c_spoken, c_message, "audio", 0, SCHEMA_NEVER, 0, no_audio)                \
	X(c_max, ROOT, "max_tokens", 0, SCHEMA_LIMIT, 0, NULL)                       \
	X(c_max_completion, ROOT, "max_completion_tokens", 0, SCHEMA_LIMIT, 0, NULL) \
	X(c_n, ROOT, "n", 0, SCHEMA_ANSWERS, 0, NULL)                                \
	X(c_options, ROOT, "stream_options", 0, SCHEMA_OPTIONS, 0, NULL)             \
	X(c_include, c_options, "include_usage", 0, SCHEMA_USAGE, 0, NULL)           \
	X(c_tools, ROOT, "tools", 0, SCHEMA_LIST, 0, NULL)                           \
	TOOL(X, c, c_tools, chat_tool_keys)                                          \
	X(c_search, ROOT, "web_search_options", 0, SCHEMA_NEVER, 0, no_count)        \
	X(c_modalities, ROOT, "modalities", 0, SCHEMA_LIST, 0, NULL)                 \
	X(c_modality, c_modalities, "[]", 0, SCHEMA_WORDS, 0, "text")                \
	X(c_audio, ROOT, "audio", 0, SCHEMA_NEVER, 0, no_audio)                      \
	X(c_prediction, ROOT, "prediction", 0, SCHEMA_NEVER, 0, no_bound)            \
	X(c_frequency, ROOT, "frequency_penalty", 0, SCHEMA_PASS, 0, NULL)           \
	X(c_presence, ROOT, "presence_penalty", 0, SCHEMA_PASS, 0, NULL)             \
	X(c_repetition, ROOT, "repetition_penalty", 0, SCHEMA_PASS, 0, NULL)         \
	X(c_call, ROOT, "function_call", 0, SCHEMA_PASS, 0, NULL)                    \
	X(c_functions, ROOT, "functions", 0, SCHEMA_PASS, 0, NULL)                   \
	X(c_bias, ROOT, "logit_bias", 0, SCHEMA_PASS, 0, NULL)                       \
	X(c_log, ROOT, "logprobs", 0, SCHEMA_PASS, 0, NULL)                          \
	X(c_effort, ROOT, "reasoning_effort", 0, SCHEMA_PASS, 0, NULL)               \
	X(c_format, ROOT, "response_format", 0, SCHEMA_PASS, 0, NULL)                \
	X(c_seed, ROOT, "seed", 0, SCHEMA_PASS, 0, NULL)                             \
	X(c_stop, ROOT, "stop", 0, SCHEMA_PASS, 0, NULL)                             \
	X(c_verbosity, ROOT, "verbosity", 0, SCHEMA_PASS, 0, NULL)                   \
	X(c_top_k, ROOT, "top_k", 0, SCHEMA_PASS, 0, NULL)                           \
	X(c_min_p, ROOT, "min_p", 0, SCHEMA_PASS, 0, NULL)                           \
	X(c_thinking, ROOT, "thinking", 0, SCHEMA_PASS, 0, NULL)                     \
	X(c_enable, ROOT, "enable_thinking", 0, SCHEMA_PASS, 0, NULL)                \
	X(c_template, ROOT, "chat_template_kwargs", 0, SCHEMA_PASS, 0, NULL)         \
	X(c_usage, ROOT, "usage", 0, SCHEMA_PASS, 0, NULL)

/* Tools also arrive among the input, and an item's output can have content. */
#define RESPONSES(X)                                                                        \
	BOTH(X, r)                                                                          \
	X(r_input, ROOT, "input", 0, SCHEMA_BLOCK, 0, item_keys)                            \
	X(r_item, r_input, "[]", r_input, SCHEMA_BLOCK, 0, NULL)                            \
	REFERENCES(X, r_part, r_input)                                                      \
	X(r_id, r_input, "id", 0, SCHEMA_ID, 0, NULL)                                       \
	X(r_output, r_input, "output", r_input, SCHEMA_BLOCK, 0, NULL)                      \
	X(r_instructions, ROOT, "instructions", r_input, SCHEMA_BLOCK, 0, NULL)             \
	X(r_tools, ROOT, "tools", 0, SCHEMA_LIST, 0, NULL)                                  \
	TOOL(X, r, r_tools, tool_keys)                                                      \
	X(r_more_tools, r_tool, "tools", r_tools, SCHEMA_LIST, 0, NULL)                     \
	X(r_connector, r_tool, "connector_id", 0, SCHEMA_CONNECTOR, 0, NULL)                \
	X(r_live, r_tool, "external_web_access", 0, SCHEMA_LIVE, 0, NULL)                   \
	X(r_environment, r_tool, "environment", 0, SCHEMA_PASS, 0, NULL)                    \
	X(r_place, r_environment, "type", 0, SCHEMA_PLACE, 0, NULL)                         \
	X(r_network, r_environment, "network_policy", 0, SCHEMA_NEVER, 0, no_network)       \
	X(r_item_tools, r_input, "tools", r_tools, SCHEMA_LIST, 0, NULL)                    \
	X(r_max, ROOT, "max_output_tokens", 0, SCHEMA_LIMIT, 0, NULL)                       \
	X(r_agents, ROOT, "multi_agent", 0, SCHEMA_NEVER, 0, no_bound)                      \
	X(r_background, ROOT, "background", 0, SCHEMA_NEVER, 0, no_later)                   \
	X(r_prompt, ROOT, "prompt", 0, SCHEMA_NEVER, 0, no_prompt)                          \
	X(r_previous, ROOT, "previous_response_id", 0, SCHEMA_STORED, 0, NULL)              \
	X(r_conversation, ROOT, "conversation", 0, SCHEMA_NEEDS, PROVIDER_TOOL_FILES, NULL) \
	X(r_context, ROOT, "context_management", 0, SCHEMA_NEVER, 0, no_bound)              \
	X(r_options, ROOT, "stream_options", 0, SCHEMA_PASS, 0, NULL)                       \
	X(r_include, ROOT, "include", 0, SCHEMA_PASS, 0, NULL)                              \
	X(r_calls, ROOT, "max_tool_calls", 0, SCHEMA_PASS, 0, NULL)                         \
	X(r_text, ROOT, "text", 0, SCHEMA_PASS, 0, NULL)                                    \
	X(r_truncation, ROOT, "truncation", 0, SCHEMA_PASS, 0, NULL)                        \
	X(r_client, ROOT, "client_metadata", 0, SCHEMA_PASS, 0, NULL)

enum { CHAT_FIRST = JSONSCAN_ROOT, CHAT(SCHEMA_NAME) CHAT_COUNT };
static const struct jsonscan_node chat_nodes[] = { CHAT(SCHEMA_NODE) };
static const struct schema_field chat_fields[] = { [ROOT] = { .role = SCHEMA_CLOSED },
						   CHAT(SCHEMA_FIELD) };

enum { RESPONSES_FIRST = JSONSCAN_ROOT, RESPONSES(SCHEMA_NAME) RESPONSES_COUNT };
static const struct jsonscan_node responses_nodes[] = { RESPONSES(SCHEMA_NODE) };
static const struct schema_field responses_fields[] = { [ROOT] = { .role = SCHEMA_CLOSED },
							RESPONSES(SCHEMA_FIELD) };

#define UNPRICED "code_interpreter file_search image_generation web_search_preview*"

const struct schema schema_chat = {
	.nodes = chat_nodes,
	.fields = chat_fields,
	.count = CHAT_COUNT,
	.limit_key = "max_completion_tokens",
	.blocks = {
		.pass = "text image_url file refusal input_text output_text thinking "
			"redacted_thinking reasoning",
		.unpriced = "input_audio",
	},
	.tools = {
		.pass = "function custom",
		.needs = { [PROVIDER_TOOL_MCP] = "mcp" },
		.unpriced = UNPRICED " web_search*",
	},
};

const struct schema schema_responses = {
	.nodes = responses_nodes,
	.fields = responses_fields,
	.count = RESPONSES_COUNT,
	.limit_key = "max_output_tokens",
	.blocks = {
		.pass = "message agent_message function_call function_call_output custom_tool_call "
			"custom_tool_call_output local_shell_call local_shell_call_output "
			"shell_call shell_call_output apply_patch_call apply_patch_call_output "
			"computer_call computer_call_output computer_screenshot reasoning "
			"item_reference compaction compaction_summary context_compaction "
			"tool_search_call tool_search_output additional_tools input_text "
			"output_text input_image input_file refusal summary_text reasoning_text "
			"text encrypted_content web_search_call ghost_snapshot",
		.needs = { [PROVIDER_TOOL_MCP] = "mcp_list_tools mcp_call mcp_approval_request "
						 "mcp_approval_response" },
		.unpriced = "input_audio image_generation_call code_interpreter_call "
			    "file_search_call compaction_trigger",
	},
	.tools = {
		.pass = "function custom local_shell shell apply_patch computer "
			"computer_use_preview namespace tool_search",
		.needs = { [PROVIDER_TOOL_WEB_SEARCH] = "web_search web_search_2*", [PROVIDER_TOOL_MCP] = "mcp" },
		.unpriced = UNPRICED,
	},
};
