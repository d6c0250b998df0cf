/* Requests in Google's format (generateContent, countTokens): see schema.h. */
#include "meter/schema.h"

#define ROOT JSONSCAN_ROOT

static const char no_cache[] = "cached content can contain tools, which the gateway cannot see";
static const char no_search[] = "the price of its searches is not in the answer";
static const char no_code[] = "runs code at the provider, which is not metered";
static const char no_price[] = "it has another price";
static const char no_hosts[] = "the servers that it reaches cannot be checked";

static const char result_keys[] = "id name response willContinue will_continue scheduling";

#define PASS(X, name, parent, key)       X(name, parent, key, 0, SCHEMA_PASS, 0, NULL)
#define NEVER(X, name, parent, key, why) X(name, parent, key, 0, SCHEMA_NEVER, 0, why)

/* Google accepts each name in two spellings. */
#define PASS2(X, name, parent, key, other) \
	PASS(X, name, parent, key)         \
	PASS(X, name##_2, parent, other)
#define NEVER2(X, name, parent, key, other, why) \
	NEVER(X, name, parent, key, why)         \
	NEVER(X, name##_2, parent, other, why)

#define FILE_DATA(X, name, part, key)                                \
	X(name, part, key, 0, SCHEMA_MEDIA, 0, NULL)                 \
	X(name##_uri, name, "fileUri", 0, SCHEMA_URL, 0, NULL)       \
	X(name##_uri_2, name, "file_uri", 0, SCHEMA_URL, 0, NULL)    \
	X(name##_type, name, "mimeType", 0, SCHEMA_MIME, 0, NULL)    \
	X(name##_type_2, name, "mime_type", 0, SCHEMA_MIME, 0, NULL) \
	PASS2(X, name##_name, name, "displayName", "display_name")

#define INLINE_DATA(X, name, part, key)                              \
	X(name, part, key, 0, SCHEMA_MEDIA, 0, NULL)                 \
	X(name##_type, name, "mimeType", 0, SCHEMA_MIME, 0, NULL)    \
	X(name##_type_2, name, "mime_type", 0, SCHEMA_MIME, 0, NULL) \
	X(name##_bytes, name, "data", 0, SCHEMA_DATA, 0, NULL)       \
	PASS2(X, name##_name, name, "displayName", "display_name")

#define RESULT(X, name, part, key)                           \
	X(name, part, key, 0, SCHEMA_CLOSED, 0, result_keys) \
	X(name##_parts, name, "parts", g_parts, SCHEMA_BLOCK, 0, NULL)

/* The contents of a message, and of the system's instructions. Google reads a single object like a
 * list of one. */
#define CONTENT(X)                                                                         \
	X(g_contents, ROOT, "contents", 0, SCHEMA_BLOCK, 0, "role")                        \
	X(g_content, g_contents, "[]", g_contents, SCHEMA_BLOCK, 0, NULL)                  \
	X(g_parts, g_contents, "parts", 0, SCHEMA_BLOCK, 0, NULL)                          \
	X(g_part, g_parts, "[]", g_parts, SCHEMA_BLOCK, 0, NULL)                           \
	PASS(X, g_text, g_parts, "text")                                                   \
	PASS(X, g_thought, g_parts, "thought")                                             \
	PASS2(X, g_signature, g_parts, "thoughtSignature", "thought_signature")            \
	PASS2(X, g_call, g_parts, "functionCall", "function_call")                         \
	PASS2(X, g_video, g_parts, "videoMetadata", "video_metadata")                      \
	PASS2(X, g_part_detail, g_parts, "mediaResolution", "media_resolution")            \
	PASS2(X, g_part_data, g_parts, "partMetadata", "part_metadata")                    \
	RESULT(X, g_result, g_parts, "functionResponse")                                   \
	RESULT(X, g_result_2, g_parts, "function_response")                                \
	INLINE_DATA(X, g_inline, g_parts, "inlineData")                                    \
	INLINE_DATA(X, g_inline_2, g_parts, "inline_data")                                 \
	FILE_DATA(X, g_file, g_parts, "fileData")                                          \
	FILE_DATA(X, g_file_2, g_parts, "file_data")                                       \
	NEVER2(X, g_run, g_parts, "executableCode", "executable_code", no_code)            \
	NEVER2(X, g_ran, g_parts, "codeExecutionResult", "code_execution_result", no_code) \
	X(g_system, ROOT, "systemInstruction", g_contents, SCHEMA_BLOCK, 0, NULL)          \
	X(g_system_2, ROOT, "system_instruction", g_contents, SCHEMA_BLOCK, 0, NULL)

#define TOOLS(X)                                                                                \
	X(g_tools, ROOT, "tools", 0, SCHEMA_LIST, 0, NULL)                                      \
	X(g_tool, g_tools, "[]", 0, SCHEMA_CLOSED, 0, NULL)                                     \
	PASS2(X, g_functions, g_tool, "functionDeclarations", "function_declarations")          \
	PASS2(X, g_computer, g_tool, "computerUse", "computer_use")                             \
	X(g_fetch, g_tool, "urlContext", 0, SCHEMA_FETCHER, 0, NULL)                            \
	X(g_fetch_2, g_tool, "url_context", 0, SCHEMA_FETCHER, 0, NULL)                         \
	NEVER2(X, g_search, g_tool, "googleSearch", "google_search", no_search)                 \
	NEVER2(X, g_old, g_tool, "googleSearchRetrieval", "google_search_retrieval", no_search) \
	NEVER2(X, g_web, g_tool, "enterpriseWebSearch", "enterprise_web_search", no_search)     \
	NEVER2(X, g_maps, g_tool, "googleMaps", "google_maps", no_search)                       \
	NEVER2(X, g_code, g_tool, "codeExecution", "code_execution", no_code)                   \
	NEVER2(X, g_stored, g_tool, "fileSearch", "file_search", no_price)                      \
	NEVER2(X, g_mcp, g_tool, "mcpServers", "mcp_servers", no_hosts)

#define CONFIG(X)                                                                    \
	X(g_config, ROOT, "generationConfig", 0, SCHEMA_CONFIG, 0, NULL)             \
	X(g_config_2, ROOT, "generation_config", g_config, SCHEMA_CONFIG, 0, NULL)   \
	X(g_max, g_config, "maxOutputTokens", 0, SCHEMA_LIMIT, 0, NULL)              \
	X(g_max_2, g_config, "max_output_tokens", 0, SCHEMA_LIMIT, 0, NULL)          \
	X(g_n, g_config, "candidateCount", 0, SCHEMA_ANSWERS, 0, NULL)               \
	X(g_n_2, g_config, "candidate_count", 0, SCHEMA_ANSWERS, 0, NULL)            \
	X(g_kinds, g_config, "responseModalities", 0, SCHEMA_LIST, 0, NULL)          \
	X(g_kind, g_kinds, "[]", 0, SCHEMA_WORDS, 0, "TEXT")                         \
	X(g_kinds_2, g_config, "response_modalities", 0, SCHEMA_LIST, 0, NULL)       \
	X(g_kind_2, g_kinds_2, "[]", 0, SCHEMA_WORDS, 0, "TEXT")                     \
	NEVER2(X, g_speech, g_config, "speechConfig", "speech_config", no_price)     \
	NEVER2(X, g_image, g_config, "imageConfig", "image_config", no_price)        \
	PASS(X, g_temperature, g_config, "temperature")                              \
	PASS2(X, g_top_p, g_config, "topP", "top_p")                                 \
	PASS2(X, g_top_k, g_config, "topK", "top_k")                                 \
	PASS2(X, g_stop, g_config, "stopSequences", "stop_sequences")                \
	PASS2(X, g_mime, g_config, "responseMimeType", "response_mime_type")         \
	PASS2(X, g_schema, g_config, "responseSchema", "response_schema")            \
	PASS2(X, g_json, g_config, "responseJsonSchema", "response_json_schema")     \
	PASS(X, g_json_3, g_config, "_responseJsonSchema")                           \
	PASS(X, g_seed, g_config, "seed")                                            \
	PASS2(X, g_presence, g_config, "presencePenalty", "presence_penalty")        \
	PASS2(X, g_frequency, g_config, "frequencyPenalty", "frequency_penalty")     \
	PASS2(X, g_logs, g_config, "responseLogprobs", "response_logprobs")          \
	PASS(X, g_log, g_config, "logprobs")                                         \
	PASS2(X, g_thinking, g_config, "thinkingConfig", "thinking_config")          \
	PASS2(X, g_detail, g_config, "mediaResolution", "media_resolution")          \
	X(g_format, g_config, "responseFormat", 0, SCHEMA_CLOSED, 0, "text")         \
	X(g_format_2, g_config, "response_format", 0, SCHEMA_CLOSED, 0, "text")      \
	NEVER2(X, g_stamps, g_config, "audioTimestamp", "audio_timestamp", no_price) \
	NEVER(X, g_civic, g_config, "enableEnhancedCivicAnswers", no_search)

#define GEMINI(X)                                                              \
	CONTENT(X)                                                             \
	TOOLS(X)                                                               \
	CONFIG(X)                                                              \
	X(g_model, ROOT, "model", 0, SCHEMA_MODEL, 0, NULL)                    \
	X(g_tier, ROOT, "serviceTier", 0, SCHEMA_TIER, 0, NULL)                \
	X(g_tier_2, ROOT, "service_tier", 0, SCHEMA_TIER, 0, NULL)             \
	NEVER2(X, g_cached, ROOT, "cachedContent", "cached_content", no_cache) \
	PASS2(X, g_choice, ROOT, "toolConfig", "tool_config")                  \
	PASS2(X, g_safety, ROOT, "safetySettings", "safety_settings")          \
	PASS(X, g_labels, ROOT, "labels")                                      \
	PASS(X, g_store, ROOT, "store")

enum { FIRST = JSONSCAN_ROOT, GEMINI(SCHEMA_NAME) COUNT };
static const struct jsonscan_node nodes[] = { GEMINI(SCHEMA_NODE) };
static const struct schema_field fields[] = { [ROOT] = { .role = SCHEMA_CLOSED },
					      GEMINI(SCHEMA_FIELD) };
_Static_assert(COUNT < 256, "a node number fits into a byte");

const struct schema schema_gemini = {
	.nodes = nodes,
	.fields = fields,
	.count = COUNT,
	.limit_key = "maxOutputTokens",
};
