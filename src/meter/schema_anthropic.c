/* Requests in Anthropic's format (messages, count_tokens): see schema.h. */
#include "meter/schema.h"

#define ROOT JSONSCAN_ROOT

static const char no_container[] = "runs code in a container at the provider, which is not metered";

static const char message_keys[] =
	"role id type name model stop_reason stop_sequence stop_details usage cache_control";
static const char block_keys[] =
	"text cache_control citations id name input caller tool_use_id is_error thinking signature "
	"cache_reference title context tool_name tool_references error_code error_message page_age "
	"encrypted_content retrieved_at server_name connector_text from to stop_reason";
static const char tool_keys[] =
	"name description input_schema cache_control strict eager_input_streaming defer_loading "
	"allowed_callers input_examples display_width_px display_height_px display_number "
	"enable_zoom max_characters max_uses blocked_domains user_location citations "
	"max_content_tokens use_cache mcp_server_name default_config configs";
static const char server_keys[] = "type name authorization_token tool_configuration";

/* A content block can have content, so the blocks within it are read like itself. */
#define ANTHROPIC(X)                                                                         \
	X(a_model, ROOT, "model", 0, SCHEMA_MODEL, 0, NULL)                                  \
	X(a_messages, ROOT, "messages", 0, SCHEMA_LIST, 0, NULL)                             \
	X(a_message, a_messages, "[]", 0, SCHEMA_CLOSED, 0, message_keys)                    \
	X(a_content, a_message, "content", 0, SCHEMA_BLOCK, 0, block_keys)                   \
	X(a_block, a_content, "[]", a_content, SCHEMA_BLOCK, 0, NULL)                        \
	X(a_type, a_content, "type", 0, SCHEMA_TYPE, 0, NULL)                                \
	X(a_within, a_content, "content", a_content, SCHEMA_BLOCK, 0, NULL)                  \
	X(a_file, a_content, "file_id", 0, SCHEMA_FILE, 0, NULL)                             \
	X(a_data, a_content, "data", 0, SCHEMA_DATA, 0, NULL)                                \
	X(a_cited, a_content, "url", 0, SCHEMA_CITED, 0, NULL)                               \
	X(a_source, a_content, "source", 0, SCHEMA_ORIGIN, 0, "media_type")                  \
	X(a_source_type, a_source, "type", 0, SCHEMA_SOURCE, 0, NULL)                        \
	X(a_source_url, a_source, "url", 0, SCHEMA_URL, 0, NULL)                             \
	X(a_source_data, a_source, "data", 0, SCHEMA_CODED, 0, NULL)                         \
	X(a_source_file, a_source, "file_id", 0, SCHEMA_FILE, 0, NULL)                       \
	X(a_source_within, a_source, "content", a_content, SCHEMA_BLOCK, 0, NULL)            \
	X(a_system, ROOT, "system", a_content, SCHEMA_BLOCK, 0, NULL)                        \
	X(a_max, ROOT, "max_tokens", 0, SCHEMA_LIMIT, 0, NULL)                               \
	X(a_stream, ROOT, "stream", 0, SCHEMA_STREAM, 0, NULL)                               \
	X(a_thinking, ROOT, "thinking", 0, SCHEMA_CLOSED, 0, "type display")                 \
	X(a_budget, a_thinking, "budget_tokens", 0, SCHEMA_THINKING, 0, NULL)                \
	X(a_tools, ROOT, "tools", 0, SCHEMA_LIST, 0, NULL)                                   \
	X(a_tool, a_tools, "[]", 0, SCHEMA_TOOL, 0, tool_keys)                               \
	X(a_tool_type, a_tool, "type", 0, SCHEMA_TOOL_TYPE, 0, NULL)                         \
	X(a_domains, a_tool, "allowed_domains", 0, SCHEMA_DOMAINS, 0, NULL)                  \
	X(a_domain, a_domains, "[]", 0, SCHEMA_DOMAIN, 0, NULL)                              \
	X(a_mcp, ROOT, "mcp_servers", 0, SCHEMA_NEEDS, PROVIDER_TOOL_MCP, NULL)              \
	X(a_server, a_mcp, "[]", 0, SCHEMA_CLOSED, 0, server_keys)                           \
	X(a_server_url, a_server, "url", 0, SCHEMA_MCP_URL, 0, NULL)                         \
	X(a_container, ROOT, "container", 0, SCHEMA_NEVER, 0, no_container)                  \
	X(a_context, ROOT, "context_management", 0, SCHEMA_CLOSED, 0, NULL)                  \
	X(a_edits, a_context, "edits", 0, SCHEMA_LIST, 0, NULL)                              \
	X(a_edit, a_edits, "[]", 0, SCHEMA_PASS, 0, NULL)                                    \
	X(a_edit_type, a_edit, "type", 0, SCHEMA_WORDS, 0, "clear_*")                        \
	X(a_tier, ROOT, "service_tier", 0, SCHEMA_TIER, 0, NULL)                             \
	X(a_speed, ROOT, "speed", 0, SCHEMA_SPEED, 0, NULL)                                  \
	X(a_geo, ROOT, "inference_geo", 0, SCHEMA_GEO, 0, NULL)                              \
	X(a_temperature, ROOT, "temperature", 0, SCHEMA_PASS, 0, NULL)                       \
	X(a_top_p, ROOT, "top_p", 0, SCHEMA_PASS, 0, NULL)                                   \
	X(a_top_k, ROOT, "top_k", 0, SCHEMA_PASS, 0, NULL)                                   \
	X(a_stop, ROOT, "stop_sequences", 0, SCHEMA_PASS, 0, NULL)                           \
	X(a_metadata, ROOT, "metadata", 0, SCHEMA_PASS, 0, NULL)                             \
	X(a_choice, ROOT, "tool_choice", 0, SCHEMA_CLOSED, 0,                                \
	  "type name disable_parallel_tool_use")                                             \
	X(a_output, ROOT, "output_config", 0, SCHEMA_CLOSED, 0, "effort format task_budget") \
	X(a_format, ROOT, "output_format", 0, SCHEMA_PASS, 0, NULL)                          \
	X(a_diagnostics, ROOT, "diagnostics", 0, SCHEMA_PASS, 0, NULL)                       \
	X(a_profile, ROOT, "user_profile_id", 0, SCHEMA_PASS, 0, NULL)                       \
	X(a_cache, ROOT, "cache_control", 0, SCHEMA_PASS, 0, NULL)

enum { FIRST = JSONSCAN_ROOT, ANTHROPIC(SCHEMA_NAME) COUNT };
static const struct jsonscan_node nodes[] = { ANTHROPIC(SCHEMA_NODE) };
static const struct schema_field fields[] = { [ROOT] = { .role = SCHEMA_CLOSED },
					      ANTHROPIC(SCHEMA_FIELD) };

const struct schema schema_anthropic = {
	.nodes = nodes,
	.fields = fields,
	.count = COUNT,
	.limit_key = "max_tokens",
	.cites = "search_result web_search_result web_fetch_result",
	.blocks = {
		.pass = "text image document tool_use tool_result thinking redacted_thinking "
			"search_result tool_reference server_tool_use compaction fallback "
			"connector_text tool_search_tool_result tool_search_tool_search_result "
			"tool_search_tool_result_error web_search_tool_result web_search_result "
			"web_search_tool_result_error web_fetch_tool_result web_fetch_result "
			"web_fetch_tool_result_error advisor_tool_result advisor_result "
			"advisor_redacted_result advisor_tool_result_error",
		.needs = { [PROVIDER_TOOL_MCP] = "mcp_tool_*",
			   [PROVIDER_TOOL_FILES] = "container_upload" },
		.unpriced = "code_execution_* bash_code_execution_* text_editor_code_execution_*",
	},
	.tools = {
		.pass = "custom bash_# text_editor_# computer_# memory_# tool_search_tool_regex "
			"tool_search_tool_regex_20251119 tool_search_tool_bm25 "
			"tool_search_tool_bm25_20251119",
		/* Later versions of both run code at the provider. */
		.needs = { [PROVIDER_TOOL_WEB_SEARCH] = "web_search_20250305",
			   [PROVIDER_TOOL_WEB_FETCH] = "web_fetch_20250910",
			   [PROVIDER_TOOL_MCP] = "mcp_toolset mcp",
			   [PROVIDER_TOOL_OTHER] = "web_search_# web_fetch_#" },
		.unpriced = "code_execution_* bash_code_execution_* advisor_*",
	},
};
