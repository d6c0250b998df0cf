/* Routes of requests, values in bodies, and edits that change nothing else. */
#include "unit.h"

#include "meter/request.h"

#include "util/buffer.h"

#include <ctype.h>
#include <string.h>

static bool found(const char *method, const char *path, struct request_target *ret_target)
{
	return request_find(method, strlen(method), path, strlen(path), false, ret_target) == 0;
}

static bool is_route(const char *method, const char *path, const char *name, const char *target)
{
	struct request_target ret;

	return found(method, path, &ret) && strcmp(ret.route->name, name) == 0 &&
	       strcmp(ret.target, target) == 0;
}

static bool refused(const char *method, const char *path)
{
	struct request_target ret;

	return !found(method, path, &ret);
}

static void paths(void)
{
	struct request_target target;

	CHECK("the routes are found",
	      is_route("POST", "/v1/messages?beta=true", "messages", "/v1/messages?beta=true") &&
		      is_route("POST", "/v1/messages/count_tokens", "count",
			       "/v1/messages/count_tokens") &&
		      is_route("POST", "/v1/chat/completions", "chat", "/v1/chat/completions") &&
		      is_route("POST", "/v1/responses", "responses", "/v1/responses") &&
		      is_route("GET", "/v1/models", "models", "/v1/models"));
	CHECK("Gemini's model is in the path, and its key is removed",
	      found("POST",
		    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=secret&alt=sse&KEY=x",
		    &target) &&
		      strcmp(target.model, "gemini-2.5-pro") == 0 && target.route->stream &&
		      strcmp(target.target,
			     "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse") == 0);
	CHECK("a header decides whose list of models is meant",
	      request_find("GET", 3, "/v1/models", 10, true, &target) == 0 &&
		      target.route->provider == PROVIDER_ANTHROPIC);
	CHECK("other spellings of a path are not routes",
	      refused("POST", "//v1/messages") && refused("POST", "/v1/messages/") &&
		      refused("POST", "/v1//messages") && refused("POST", "/v1/%6dessages") &&
		      refused("POST", "/v1/%2e%2e/v1/messages") &&
		      refused("POST", "/v1/./messages") && refused("POST", "/V1/messages") &&
		      refused("POST", "/v1/messages;x") && refused("POST", "/v1/messages#x") &&
		      refused("POST", "v1/messages") && refused("POST", ""));
	CHECK("paths that would not be metered are not routes",
	      refused("POST", "/v1/messages/batches") && refused("GET", "/v1/messages/batches") &&
		      refused("POST", "/v1/files") && refused("GET", "/v1/files/x/content") &&
		      refused("POST", "/v1/embeddings") &&
		      refused("POST", "/v1/responses/x/cancel") &&
		      refused("POST", "/v1beta/models/x:batchGenerateContent") &&
		      refused("POST", "/v1beta/tunedModels/x:generateContent") &&
		      refused("POST", "/v1/batches"));
	CHECK("other methods are not routes",
	      refused("GET", "/v1/messages") && refused("PUT", "/v1/messages") &&
		      refused("post", "/v1/messages") && refused("DELETE", "/v1/models/x"));
	CHECK("a model in the path has plain characters only",
	      refused("POST", "/v1beta/models/:generateContent") &&
		      refused("POST", "/v1beta/models/..:generateContent") &&
		      refused("POST", "/v1beta/models/a/b:generateContent") &&
		      refused("POST", "/v1beta/models/a%2fb:generateContent"));
	CHECK("a query has plain characters only", refused("POST", "/v1/messages?a=%0d%0a") &&
							   refused("POST", "/v1/messages?a b") &&
							   refused("POST", "/v1/messages?x=/../y"));
}

enum { ALL_TOOLS = (1 << PROVIDER_TOOL_COUNT) - 1 };

/* The things that the bodies may ask for. */
static struct request_policy policy;

/* Reads a body, split at every byte; NULL if it is valid. */
static const char *read_body(const char *path, const char *text, struct request_body *body)
{
	struct request_target target;
	const char *wrong = NULL;
	size_t size = strlen(text);

	if (!found("POST", path, &target))
		return "no route";
	for (size_t at = 1; at < size; at++) {
		request_body_init(body, &target, &policy);
		request_body_feed(body, text, at);
		request_body_feed(body, text + at, size - at);
		wrong = request_body_end(body);
		request_body_init(body, &target, &policy);
		request_body_feed(body, text, size);
		if (wrong != request_body_end(body))
			return "it depends on how it is split";
	}
	return wrong;
}

static bool bad(const char *text, const char *why)
{
	struct request_body body;
	const char *wrong = read_body("/v1/messages", text, &body);

	return wrong && strstr(wrong, why);
}

static void bodies(void)
{
	struct request_body body;

	CHECK("the values that count are found in a body",
	      !read_body(
		      "/v1/messages",
		      " {\"messages\":[{\"content\":[{\"type\":\"tool_use\",\"input\":{\"model\":\"x\",\"max_tokens\":1}}]}],\"model\":\"claude-opus-5-5\",\"max_tokens\":128000,\"stream\":true,"
		      "\"speed\":\"fast\"}\n",
		      &body) &&
		      strcmp(body.model, "claude-opus-5-5") == 0 && body.most == 128000 &&
		      body.stream && body.fast);
	CHECK("without a limit it is the models' maximum",
	      !read_body("/v1/responses", "{\"model\":\"gpt-6-sol\",\"max_output_tokens\":null}",
			 &body) &&
		      body.most == REQUEST_UNSAID && !body.stream);
	CHECK("a limit of 0 counts as no limit, in every format",
	      !read_body("/v1/messages", "{\"model\":\"x\",\"max_tokens\":0}", &body) &&
		      body.most == REQUEST_UNSAID &&
		      !read_body("/v1/chat/completions",
				 "{\"model\":\"x\",\"max_tokens\":0,\"max_completion_tokens\":9}",
				 &body) &&
		      body.most == REQUEST_UNSAID &&
		      !read_body("/v1/responses", "{\"model\":\"x\",\"max_output_tokens\":0}",
				 &body) &&
		      body.most == REQUEST_UNSAID &&
		      !read_body("/v1beta/models/g:generateContent",
				 "{\"generation_config\":{\"max_output_tokens\":0}}", &body) &&
		      body.most == REQUEST_UNSAID);
	CHECK("several answers are counted",
	      !read_body("/v1/chat/completions",
			 "{\"model\":\"x\",\"n\":3,\"max_tokens\":5,\"max_completion_tokens\":9}",
			 &body) &&
		      body.answers == 3 && body.most == 9);
	CHECK("content kept at the provider is noticed",
	      !read_body("/v1/responses", "{\"model\":\"x\",\"previous_response_id\":\"r\"}",
			 &body) &&
		      body.elsewhere);
	CHECK("bodies that two parsers could read differently are refused",
	      bad("{\"model\":\"a\",\"model\":\"b\"}", "twice") &&
		      bad("{\"model\":\"a\",\"mod\\u0065l\":\"b\"}", "twice") &&
		      bad("{\"model\":\"a\",\"MODEL\":\"b\"}", "differs in case") &&
		      bad("{\"model\":\"a\",\"max_tokens\":5,\"max_tokens\":500000}", "twice"));
	CHECK("limits that are not whole numbers are refused",
	      bad("{\"model\":\"a\",\"max_tokens\":\"5\"}", "whole number") &&
		      bad("{\"model\":\"a\",\"max_tokens\":1e9}", "whole number") &&
		      bad("{\"model\":\"a\",\"max_tokens\":-1}", "whole number") &&
		      bad("{\"model\":\"a\",\"max_tokens\":[1]}", "whole number"));
	CHECK("bodies that are not objects are refused",
	      bad("[{\"model\":\"a\"}]", "must be a JSON object") &&
		      bad("{\"model\":\"a\"", "not valid JSON") &&
		      bad("{\"model\":\"a\"} {}", "not valid JSON") &&
		      bad("hello", "not valid JSON") && bad("{}", "must be a JSON object") &&
		      bad("{\"model\":\"a\",}", "not valid JSON") &&
		      bad("{\"max_tokens\":05,\"model\":\"a\"}", "not valid JSON"));
	CHECK("a model must be named", bad("{\"max_tokens\":1}", "does not name a model") &&
					       bad("{\"model\":7}", "the model") &&
					       bad("{\"model\":\"\"}", "the model") &&
					       bad("{\"model\":\"a\\u0000b\"}", "the model"));
	CHECK("a background response is refused",
	      read_body("/v1/responses", "{\"model\":\"x\",\"background\":true}", &body) &&
		      !read_body("/v1/responses", "{\"model\":\"x\",\"background\":false}", &body));
}

static bool names(const char *path, const char *text, uint64_t documents, uint64_t images)
{
	struct request_body body;

	return !read_body(path, text, &body) && body.documents == documents &&
	       body.images == images &&
	       request_body_elsewhere(&body) ==
		       documents * REQUEST_ELSEWHERE + images * REQUEST_IMAGE;
}

#define MESSAGE(content) \
	"{\"model\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":" content "}]}"
#define INPUT(content) "{\"model\":\"x\",\"input\":" content "}"
#define PARTS(content) "{\"contents\":[{\"parts\":" content "}]}"

/* Returns true for two spellings of one key, with and without underscores. */
static bool is_other_spelling(const char *a, const char *b)
{
	while (*a && *b) {
		a += *a == '_';
		b += *b == '_';
		if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
			return false;
	}
	return *a == *b;
}

/* Returns the next row with the same parent, or the number of rows. */
static size_t next_sibling(const struct schema *schema, size_t row)
{
	size_t i = row + 1;

	while (i < schema->count && schema->nodes[i].parent != schema->nodes[row].parent)
		i++;
	return i;
}

static bool is_in_order(const struct schema *schema)
{
	for (size_t i = JSONSCAN_ROOT + 1; i < schema->count; i++) {
		size_t next = next_sibling(schema, i);

		for (size_t j = next; j < schema->count; j = next_sibling(schema, j))
			if (j != next &&
			    is_other_spelling(schema->nodes[i].key, schema->nodes[j].key) &&
			    !is_other_spelling(schema->nodes[next].key, schema->nodes[j].key))
				return false;
	}
	return true;
}

static void spellings(void)
{
	bool all = true;

	for (enum usage_format format = 0; format < USAGE_FORMATS; format++)
		all = all && is_in_order(schema_of(format));
	CHECK("two spellings of a key are next to each other in the tables", all);
}

static void documents(void)
{
	static const char gemini[] = "/v1beta/models/g:generateContent";
	struct request_body body;

	policy.tools = ALL_TOOLS;

	CHECK("a document by its address or id is noticed in Anthropic's form, also within a result and a document",
	      names("/v1/messages",
		    MESSAGE("[{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":\"https://a\"}},"
			    "{\"source\":{\"file_id\":\"f\",\"type\":\"file\"},\"type\":\"document\"},"
			    "{\"type\":\"container_upload\",\"file_id\":\"f\"}]"),
		    3, 0) &&
		      names("/v1/messages",
			    MESSAGE("[{\"type\":\"tool_result\",\"content\":[{\"type\":\"image\",\"source\":"
				    "{\"type\":\"url\",\"url\":\"https://a\"}},{\"type\":\"document\",\"source\":{\"type\":"
				    "\"content\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"url\"}}]}}]}]"),
			    0, 2));
	CHECK("and in OpenAI's",
	      names("/v1/chat/completions",
		    MESSAGE("[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://a/b.png\"}},"
			    "{\"type\":\"file\",\"file\":{\"file_id\":\"f\"}}]"),
		    1, 1) &&
		      names("/v1/responses",
			    INPUT("[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":\"HTTPS://a\"},"
				  "{\"type\":\"input_image\",\"file_id\":\"f\"},{\"type\":\"input_file\",\"file_url\":\"https://a/u\"},"
				  "{\"type\":\"input_file\",\"file_id\":\"f\"}]},{\"type\":\"item_reference\",\"id\":\"m\"},"
				  "{\"type\":\"function_call_output\",\"output\":[{\"type\":\"input_file\",\"file_id\":\"f\"}]}]"),
			    4, 2) &&
		      names("/v1/responses",
			    INPUT("[{\"type\":\"computer_call_output\",\"output\":{\"image_url\":\"http://a\"}}]"),
			    0, 1));
	CHECK("an item with an id refers to nothing if its content is in the request",
	      names("/v1/responses",
		    INPUT("[{\"type\":\"message\",\"id\":\"m\",\"content\":\"x\"},{\"type\":\"additional_tools\","
			  "\"id\":\"t\",\"role\":\"developer\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}]"),
		    0, 0) &&
		      names("/v1/responses",
			    INPUT("[{\"id\":\"m\",\"role\":\"user\"},{\"id\":\"t\",\"tools\":[]}]"),
			    2, 0));
	CHECK("and in Gemini's, in both spellings",
	      names(gemini,
		    PARTS("[{\"fileData\":{\"mimeType\":\"image/png\",\"fileUri\":\"gs://a\"}},"
			  "{\"file_data\":{\"file_uri\":\"https://a\",\"mime_type\":\"application/pdf\"}},"
			  "{\"functionResponse\":{\"parts\":[{\"fileData\":{\"fileUri\":\"https://a/u\","
			  "\"mimeType\":\"text/plain\"}}]}}]"),
		    2, 1) &&
		      names(gemini,
			    "{\"systemInstruction\":{\"parts\":[{\"fileData\":{\"fileUri\":\"https://a/u\","
			    "\"mimeType\":\"text/plain\"}}]}}",
			    1, 0) &&
		      names(gemini,
			    "{\"contents\":{\"parts\":{\"fileData\":{\"fileUri\":\"https://a/u\","
			    "\"mimeType\":\"text/plain\"}}}}",
			    1, 0));
	CHECK("an item with an id and nothing else is a reference",
	      names("/v1/responses", INPUT("[{\"id\":\"m\"}]"), 1, 0) &&
		      names("/v1/responses",
			    INPUT("[{\"id\":\"m\",\"role\":\"user\",\"status\":\"completed\",\"content\":null}]"),
			    1, 0) &&
		      names("/v1/responses",
			    INPUT("[{\"id\":\"m\",\"role\":\"user\",\"content\":\"x\"},{\"id\":null},"
				  "{\"id\":\"f\",\"type\":\"function_call\",\"arguments\":\"{}\"},"
				  "{\"id\":\"r\",\"type\":\"reasoning\",\"encrypted_content\":\"x\"}]"),
			    0, 0));
	CHECK("content in the body itself is not a reference",
	      names("/v1/messages",
		    MESSAGE("[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"AA\"}}]"),
		    0, 0) &&
		      names("/v1/chat/completions",
			    MESSAGE("[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA\"}},"
				    "{\"type\":\"file\",\"file\":{\"file_data\":\"data:a\",\"file_id\":null}}]"),
			    0, 0));
	CHECK("nor are the same words in tool parameters, tool input and prose",
	      names("/v1/messages",
		    "{\"model\":\"x\",\"tools\":[{\"name\":\"t\",\"input_schema\":{\"properties\":{\"file_id\":"
		    "{\"type\":\"string\"},\"source\":{\"type\":\"url\"},\"image_url\":{\"type\":\"string\"}}}}],"
		    "\"messages\":[{\"content\":[{\"type\":\"tool_use\",\"input\":{\"file_id\":\"f\",\"source\":"
		    "{\"type\":\"url\"},\"content\":[{\"file_id\":\"f\"}]}},{\"type\":\"text\",\"text\":"
		    "\"{\\\"file_id\\\":\\\"f\\\"}\"}]},{\"content\":\"https://a\"}]}",
		    0, 0));
	CHECK("more than a context window is not reserved",
	      !read_body(
		      "/v1/responses",
		      INPUT("[{\"file_id\":\"f\"},{\"file_id\":\"f\"},{\"file_id\":\"f\"},{\"file_id\":\"f\"},"
			    "{\"file_id\":\"f\"},{\"file_id\":\"f\"}]"),
		      &body) &&
		      body.documents == 6 && request_body_elsewhere(&body) == REQUEST_WINDOW);
}

static bool lists_docs(const void *context, const char *host, uint16_t port)
{
	(void)context;
	return strcmp(host, "docs.example") == 0 && port == 443;
}

/* Returns true if the body is refused because of what the provider would do. */
static bool denied(const char *path, const char *text, const char *why)
{
	struct request_body body;
	const char *wrong = read_body(path, text, &body);

	if (!wrong || !strstr(wrong, why) || !body.denied)
		printf("# %s\n", wrong ? wrong : "it passes");
	return wrong && strstr(wrong, why) && body.denied;
}

#define IMAGE(url) \
	MESSAGE("[{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"" url "\"}}]")

static void permissions(void)
{
	struct request_body body;

	policy = (struct request_policy){ .allows = lists_docs };
	CHECK("a URL is refused even if its host is listed",
	      denied("/v1/messages", IMAGE("https://docs.example/a"), "provider-tools: web-fetch"));
	policy.tools = PROVIDER_TOOL_BIT(PROVIDER_TOOL_WEB_FETCH);
	CHECK("with permission, its host must be listed, with its port",
	      !read_body("/v1/messages", IMAGE("https://docs.example/a"), &body) &&
		      !read_body("/v1/messages", IMAGE("HTTPS://docs.example:443?a"), &body) &&
		      denied("/v1/messages", IMAGE("http://docs.example/a"), "allow list") &&
		      denied("/v1/messages", IMAGE("https://docs.example:8443/a"),
			     "allow: docs.example:8443") &&
		      denied("/v1/messages", IMAGE("https://evil.example/a"),
			     "allow: evil.example"));
	CHECK("a URL that two parsers could read differently is refused",
	      denied("/v1/messages", IMAGE("https://docs.example@evil.example/"), "not a URL") &&
		      denied("/v1/messages", IMAGE("https://docs.example\\\\@evil.example/"),
			     "not a URL") &&
		      denied("/v1/messages", IMAGE("https:docs.example"), "not a URL") &&
		      denied("/v1/messages", IMAGE("//docs.example/"), "not a URL") &&
		      denied("/v1/messages", IMAGE("https://docs.example%2e/"), "not a URL") &&
		      denied("/v1/messages", IMAGE("https://docs.example:0/"), "not a URL") &&
		      denied("/v1/messages", IMAGE("https://"), "not a URL"));
	policy = (struct request_policy){ .local = true };
	CHECK("a local server may get unknown fields, but no tools",
	      !read_body("/v1/chat/completions", "{\"model\":\"x\",\"keep_alive\":1}", &body) &&
		      denied("/v1/chat/completions",
			     "{\"model\":\"x\",\"tools\":[{\"type\":\"mcp\"}]}", "mcp"));
	policy = (struct request_policy){ 0 };
	CHECK("the first reason is the one that is given",
	      denied("/v1/messages", "{\"model\":\"a\",\"one\":1,\"two\":2}", "one is a field"));
}

static bool fits(const struct schema *schema)
{
	for (size_t i = JSONSCAN_ROOT; i < schema->count; i++) {
		size_t members = 0;

		for (size_t j = i + 1; j < schema->count; j++)
			members += schema->nodes[j].parent == i;
		if (members > JSONSCAN_KEYS || schema->nodes[i].parent >= i ||
		    (i > JSONSCAN_ROOT && schema->nodes[i].size == 0))
			return false;
	}
	return schema->count < 256;
}

static void schemas(void)
{
	CHECK("every schema fits the reader", fits(&schema_anthropic) && fits(&schema_chat) &&
						      fits(&schema_responses) &&
						      fits(&schema_gemini));
	CHECK("patterns match words, prefixes and dates",
	      schema_matches("a bc d_# e*", "BC") && schema_matches("a d_#", "d_2025_01") &&
		      schema_matches("e*", "e") && !schema_matches("d_#", "d_") &&
		      !schema_matches("d_#", "d_x1") && !schema_matches("bc", "b") &&
		      !schema_matches("bc", "bcd") && !schema_matches(NULL, "a") &&
		      !schema_matches("a", ""));
}

static void brackets(void)
{
	AUTO_BUFFER struct buffer deep = BUFFER_INIT(8192);
	struct request_body body;

	policy = (struct request_policy){ 0 };

	CHECK("brackets must match in skipped values as well",
	      bad("{\"model\":\"a\",\"metadata\":[}}", "not valid JSON") &&
		      bad("{\"model\":\"a\",\"metadata\":[}", "not valid JSON") &&
		      bad("{\"model\":\"a\",\"metadata\":{]}", "not valid JSON") &&
		      bad("{\"model\":\"a\",\"metadata\":[{\"a\":[1,2}]]}", "not valid JSON") &&
		      bad("{\"model\":\"a\",\"metadata\":{\"a\":[{]}]}}", "not valid JSON"));
	CHECK("matching brackets are accepted",
	      !read_body(
		      "/v1/messages",
		      "{\"model\":\"a\",\"metadata\":[{\"a\":[1,{}],\"b\":\"]}\"},[[{}]]],\"tool_choice\":{}}",
		      &body));
	buffer_add_text(&deep, "{\"model\":\"a\",\"metadata\":");
	for (int i = 0; i < 1000; i++)
		buffer_add_text(&deep, i % 3 ? "[" : "{\"a\":");
	for (int i = 999; i >= 0; i--)
		buffer_add_text(&deep, i % 3 ? "]" : "}");
	buffer_add_text(&deep, "}");
	CHECK("a thousand nested brackets are read",
	      !read_body("/v1/messages", buffer_text(&deep), &body));
	deep.used = 0;
	buffer_add_text(&deep, "{\"model\":\"a\",\"metadata\":");
	for (int i = 0; i < 1100; i++)
		buffer_add_text(&deep, "[");
	for (int i = 0; i < 1100; i++)
		buffer_add_text(&deep, "]");
	buffer_add_text(&deep, "}");
	CHECK("deeper nesting is invalid", bad(buffer_text(&deep), "not valid JSON"));
}

/* The body as the provider receives it. */
static bool becomes(const struct request_body *body, const char *text, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	uint64_t at = 0;

	for (size_t i = 0; i < body->edit_count; i++) {
		buffer_add(&out, text + at, body->edits[i].at - at);
		buffer_add_text(&out, body->edits[i].text);
		at = body->edits[i].at + body->edits[i].remove;
	}
	buffer_add_text(&out, text + at);
	if (strcmp(buffer_text(&out), expected) != 0)
		printf("# %s\n", buffer_text(&out));
	return strcmp(buffer_text(&out), expected) == 0 &&
	       (int64_t)strlen(text) + request_body_growth(body) == (int64_t)out.used;
}

static bool limited(const char *path, const char *text, uint64_t tokens, const char *expected)
{
	struct request_body body;

	if (read_body(path, text, &body))
		return false;
	request_body_limit(&body, tokens);
	return body.most == tokens && becomes(&body, text, expected);
}

static bool asking(const char *text, const char *expected)
{
	struct request_body body;

	if (read_body("/v1/chat/completions", text, &body))
		return false;
	request_body_ask_usage(&body);
	return becomes(&body, text, expected);
}

static void edits(void)
{
	static const char gemini[] = "/v1beta/models/g:generateContent";

	CHECK("only the number changes, and nothing moves",
	      limited("/v1/messages",
		      "{\"model\":\"a\",\"max_tokens\":128000,\"metadata\":\"max_tokens\\\":128000\"}",
		      4096,
		      "{\"model\":\"a\",\"max_tokens\":4096  ,\"metadata\":\"max_tokens\\\":128000\"}"));
	CHECK("the part for thinking stays smaller than the whole",
	      limited("/v1/messages",
		      "{\"model\":\"a\",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":31999},\"max_tokens\":64000}",
		      9000,
		      "{\"model\":\"a\",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":4500 },\"max_tokens\":9000 }") &&
		      limited("/v1/messages",
			      "{\"model\":\"a\",\"thinking\":{\"budget_tokens\":2000},\"max_tokens\":64000}",
			      9000,
			      "{\"model\":\"a\",\"thinking\":{\"budget_tokens\":2000},\"max_tokens\":9000 }"));
	CHECK("both names of a limit change",
	      limited("/v1/chat/completions",
		      "{\"max_tokens\":900,\"max_completion_tokens\":50,\"model\":\"a\"}", 10,
		      "{\"max_tokens\":10 ,\"max_completion_tokens\":10,\"model\":\"a\"}"));
	CHECK("a lower limit stays",
	      limited("/v1/chat/completions",
		      "{\"max_tokens\":900,\"max_completion_tokens\":5,\"model\":\"a\"}", 10,
		      "{\"max_tokens\":10 ,\"max_completion_tokens\":5,\"model\":\"a\"}"));
	CHECK("a missing limit is inserted",
	      limited("/v1/responses", " {\"model\":\"a\"}", 7,
		      " {\"max_output_tokens\":7,\"model\":\"a\"}") &&
		      limited(gemini, "{\"contents\":[]}", 7,
			      "{\"generationConfig\":{\"maxOutputTokens\":7},\"contents\":[]}") &&
		      limited(gemini, "{\"generationConfig\":{}}", 7,
			      "{\"generationConfig\":{\"maxOutputTokens\":7}}") &&
		      limited(gemini, "{\"generationConfig\":{\"topP\":1}}", 7,
			      "{\"generationConfig\":{\"maxOutputTokens\":7,\"topP\":1}}") &&
		      limited(gemini, "{\"generationConfig\":{\"maxOutputTokens\":99}}", 7,
			      "{\"generationConfig\":{\"maxOutputTokens\":7 }}"));
	CHECK("usage is asked for where it was not",
	      asking("{\"stream\":true,\"model\":\"a\"}",
		     "{\"stream_options\":{\"include_usage\":true},\"stream\":true,\"model\":\"a\"}") &&
		      asking("{\"stream\":true,\"model\":\"a\",\"stream_options\":{}}",
			     "{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":true}}") &&
		      asking("{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"x\":1}}",
			     "{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":true,\"x\":1}}") &&
		      asking("{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":false}}",
			     "{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":true}}") &&
		      asking("{\"stream\":true,\"model\":\"a\",\"stream_options\":null}",
			     "{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":true}}"));
	CHECK("and nothing changes where it was, or where nothing streams",
	      asking("{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":true}}",
		     "{\"stream\":true,\"model\":\"a\",\"stream_options\":{\"include_usage\":true}}") &&
		      asking("{\"model\":\"a\"}", "{\"model\":\"a\"}"));
}

/* Returns true if a body is refused for a reason that names this field. */
static bool blames(const char *path, const char *text, const char *why, const char *field)
{
	struct request_body body;
	const char *wrong = read_body(path, text, &body);

	if (!wrong || !strstr(wrong, why) || strcmp(body.field, field) != 0)
		printf("# %s: %s\n", wrong ? wrong : "it passes", wrong ? body.field : "");
	return wrong && strstr(wrong, why) && strcmp(body.field, field) == 0;
}

static bool passes(const char *path, const char *text)
{
	struct request_body body;
	const char *wrong = read_body(path, text, &body);

	if (wrong)
		printf("# %s\n", wrong);
	return !wrong;
}

#define A_BODY(rest) "{\"model\":\"a\",\"max_tokens\":1," rest "}"
#define G_PART(mime)                                                       \
	"{\"contents\":[{\"parts\":[{\"inlineData\":{\"mimeType\":\"" mime \
	"\",\"data\":\"AAAA\"}}]}]}"

static void kinds(void)
{
	static const char gemini[] = "/v1beta/models/g:generateContent";

	CHECK("Gemini's body may repeat the model of the path",
	      passes(gemini, "{\"model\":\"g\"}") && passes(gemini, "{\"model\":\"models/g\"}") &&
		      passes(gemini, "{\"model\":null}"));
	CHECK("it may not name another one",
	      blames(gemini, "{\"model\":\"h\"}", "not the one in the path", "model") &&
		      blames(gemini, "{\"model\":\"g\\u0000h\"}", "not the one in the path",
			     "model") &&
		      blames(gemini, "{\"model\":5}", "not the one in the path", "model"));
	CHECK("an object cannot be replaced by a value, which is named",
	      blames("/v1/messages", A_BODY("\"thinking\":5"), "thinking must be an object",
		     "thinking") &&
		      blames("/v1/messages", A_BODY("\"tool_choice\":\"any\""),
			     "tool_choice must be an object", "tool_choice") &&
		      blames(gemini, "{\"contents\":[{\"parts\":[{\"inlineData\":\"x\"}]}]}",
			     "must be an object", "contents.parts.inlineData") &&
		      passes("/v1/messages", A_BODY("\"thinking\":null")));
	CHECK("a list cannot be replaced by a value",
	      blames("/v1/messages", A_BODY("\"tools\":{}"), "tools must be a list", "tools"));
	CHECK("tiers are known by their names, with and without Gemini's prefix",
	      passes(gemini, "{\"service_tier\":\"SERVICE_TIER_STANDARD\"}") &&
		      passes(gemini, "{\"service_tier\":\"standard\"}") &&
		      blames(gemini, "{\"service_tier\":\"SERVICE_TIER_X\"}", "no known price",
			     "service_tier") &&
		      blames("/v1/messages", A_BODY("\"service_tier\":\"batch\""), "no known price",
			     "service_tier"));
	CHECK("a key with a blank after it is another key",
	      blames("/v1/messages", A_BODY("\"max_tokens \":2"), "", "max_tokens "));
	CHECK("data has a type with a price of its own kind",
	      passes(gemini, G_PART("image/png")) && passes(gemini, G_PART("text/x-c++src")) &&
		      blames(gemini, G_PART("audio/wav"), "has another price",
			     "contents.parts.inlineData.mimeType") &&
		      blames(gemini, G_PART("text/plain;audio/wav"), "has another price",
			     "contents.parts.inlineData.mimeType"));
}

int main(void)
{
	paths();
	bodies();
	spellings();
	documents();
	permissions();
	schemas();
	brackets();
	edits();
	kinds();
	return unit_failures > 0;
}
