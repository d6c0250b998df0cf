/* Requests that want something of the provider itself: tools, servers, stored files, prices. */
#include "unit.h"

#include "meter/request.h"

#include <string.h>

enum { ALL_TOOLS = (1 << PROVIDER_TOOL_COUNT) - 1 };

#define BIT(tool)   PROVIDER_TOOL_BIT(PROVIDER_TOOL_##tool)
#define MESSAGES    "/v1/messages"
#define CHAT        "/v1/chat/completions"
#define RESPONSES   "/v1/responses"
#define GEMINI      "/v1beta/models/g:generateContent"
#define TOOL(text)  "{\"model\":\"x\",\"tools\":[" text "]}"
#define ALSO(text)  "{\"model\":\"x\"," text "}"
#define PARTS(text) "{\"contents\":[{\"parts\":[" text "]}]}"
#define BLOCK(text) "{\"model\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":[" text "]}]}"
#define ITEM(text)  "{\"model\":\"x\",\"input\":[" text "]}"

struct sample {
	const char *path;
	unsigned int tools; /* that the user allows */
	const char *text;
	const char *refusal; /* some words, or NULL */
};

/* docs.example with its subdomains, alone.example without, and others with their ports. */
static bool lists(const void *context, const char *host, uint16_t port)
{
	(void)context;
	if (strcmp(host, "docs.example") == 0 || strcmp(host, "any.docs.example") == 0 ||
	    strcmp(host, "alone.example") == 0)
		return port == 443;
	return (strcmp(host, "other.example") == 0 && port == 65535) ||
	       (strcmp(host, "2001:db8::1") == 0 && port == 8443);
}

static const char *judge(const struct sample *sample, bool open, struct request_body *ret_body)
{
	const struct request_policy policy = { .tools = sample->tools,
					       .allows = open ? NULL : lists };
	struct request_target target;

	if (request_find("POST", 4, sample->path, strlen(sample->path), false, &target) < 0)
		return "no route";
	request_body_init(ret_body, &target, &policy);
	request_body_feed(ret_body, sample->text, strlen(sample->text));
	return request_body_end(ret_body);
}

static bool is_judged(const struct sample *sample, bool open)
{
	struct request_body body;
	const char *wrong = judge(sample, open, &body);
	bool held = sample->refusal ? wrong && strstr(wrong, sample->refusal) : !wrong;

	if (!held)
		printf("# %s: %s\n", sample->text, wrong ? wrong : "it passes");
	return held;
}

static bool all_judged(const struct sample *samples, size_t count, bool open)
{
	bool held = true;

	for (size_t i = 0; i < count; i++)
		held = is_judged(&samples[i], open) && held;
	return held;
}

#define JUDGED(samples, open) all_judged(samples, sizeof(samples) / sizeof *(samples), open)

static const struct sample fetching[] = {
	{ MESSAGES, 0, TOOL("{\"type\":\"web_fetch_20250910\"}"), "provider-tools: web-fetch" },
	{ MESSAGES, BIT(WEB_FETCH), TOOL("{\"type\":\"web_fetch_20250910\"}"), "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[\"docs.example\"]}"), NULL },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[\"docs.example/a\"]}"),
	  NULL },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"allowed_domains\":[\"docs.example\"],\"type\":\"web_fetch_20250910\"}"), NULL },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[]}"), "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":null}"), "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[\"\"]}"), "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[7]}"), "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[\"alone.example\"]}"),
	  "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[\"evil.example\","
	       "\"docs.example\"]}"),
	  "fetch any URL" },
	{ MESSAGES, BIT(WEB_FETCH),
	  TOOL("{\"type\":\"web_fetch_20250910\",\"allowed_domains\":[\"docs.example\"]},"
	       "{\"type\":\"web_fetch_20250910\"}"),
	  "fetch any URL" },
	{ GEMINI, 0, "{\"tools\":[{\"urlContext\":{}}]}", "provider-tools: web-fetch" },
	{ GEMINI, BIT(WEB_FETCH), "{\"tools\":[{\"urlContext\":{}}]}", "network policy" },
	{ GEMINI, 0, "{\"tools\":[{\"googleSearch\":{}}]}", "is refused" },
};

static const struct sample searching[] = {
	{ MESSAGES, 0, TOOL("{\"type\":\"web_search_20250305\"}"), "provider-tools: web-search" },
	{ MESSAGES, BIT(WEB_SEARCH), TOOL("{\"type\":\"web_search_20250305\"}"), NULL },
	{ RESPONSES, 0, TOOL("{\"type\":\"web_search\"}"), "provider-tools: web-search" },
	{ RESPONSES, BIT(WEB_SEARCH), TOOL("{\"type\":\"web_search\"}"), "open any page" },
	{ RESPONSES, BIT(WEB_SEARCH),
	  TOOL("{\"type\":\"web_search\",\"external_web_access\":false}"), NULL },
	{ RESPONSES, BIT(WEB_SEARCH),
	  TOOL("{\"type\":\"web_search\",\"external_web_access\":true}"), "open any page" },
	{ RESPONSES, BIT(WEB_SEARCH),
	  TOOL("{\"type\":\"web_search\",\"external_web_access\":null}"), "open any page" },
	{ RESPONSES, BIT(WEB_SEARCH), "{\"model\":\"gpt-5-search\"}", NULL },
	{ RESPONSES, 0, "{\"model\":\"gpt-5-search\"}", "web-search" },
	{ RESPONSES, 0, "{\"model\":\"o3-deep-research\"}", "web-search" },
	{ CHAT, ALL_TOOLS, "{\"model\":\"gpt-5-search\"}", "searches the web" },
	{ CHAT, ALL_TOOLS, "{\"model\":\"a/b:online\"}", "searches the web" },
	{ CHAT, ALL_TOOLS, TOOL("{\"type\":\"web_search\"}"), "cannot be metered" },
};

static const struct sample running[] = {
	{ RESPONSES, 0, TOOL("{\"type\":\"shell\"}"), "the shell would run at the provider" },
	{ RESPONSES, 0, TOOL("{\"type\":\"shell\",\"environment\":{\"type\":\"local\"}}"), NULL },
	{ RESPONSES, 0, TOOL("{\"environment\":{\"type\":\"local\"},\"type\":\"shell\"}"), NULL },
	{ RESPONSES, ALL_TOOLS, TOOL("{\"type\":\"shell\",\"environment\":{\"type\":\"auto\"}}"),
	  "the shell would run at the provider" },
	{ RESPONSES, ALL_TOOLS, TOOL("{\"type\":\"shell\",\"environment\":{\"type\":7}}"),
	  "the shell would run at the provider" },
	{ RESPONSES, 0, TOOL("{\"type\":\"function\"}"), NULL },
	{ MESSAGES, ALL_TOOLS, TOOL("{\"type\":\"code_execution_20250522\"}"),
	  "cannot be metered" },
	{ MESSAGES, 0, TOOL("{\"type\":\"brand_new\"}"), "provider-tools: other" },
	{ MESSAGES, BIT(OTHER), TOOL("{\"type\":\"brand_new\"}"), NULL },
	{ MESSAGES, 0, TOOL("{\"type\":7}"), "must be a short text" },
	{ MESSAGES, 0, TOOL("{\"type\":null,\"name\":\"t\"}"), NULL },
	{ MESSAGES, 0, TOOL("\"web\""), "must be an object" },
};

static const struct sample servers[] = {
	{ RESPONSES, 0, TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs.example/\"}"),
	  "provider-tools: mcp" },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs.example/\"}"),
	  NULL },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":\"https://evil.example/\"}"),
	  "allow: evil.example" },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://other.example:65535\"}"), NULL },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://other.example:65536\"}"), "not a URL" },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs.example:/\"}"),
	  "not a URL" },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs.example:44x\"}"), "not a URL" },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs.example:000443/\"}"), "not a URL" },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://[2001:db8::1]:8443/\"}"), NULL },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://[2001:db8::2]:8443/\"}"),
	  "allow: [2001:db8::2]:8443" },
	{ RESPONSES, BIT(MCP),
	  TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs.example/a@b%20\"}"), NULL },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":\"https://docs .example\"}"),
	  "not a URL" },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":7}"), "must be a text" },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":null}"), NULL },
	{ RESPONSES, 0, TOOL("{\"type\":\"function\",\"connector_id\":\"c\"}"),
	  "provider-tools: mcp" },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"connector_id\":\"c\"}"),
	  "a connector names no host" },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"connector_id\":null}"), NULL },
	{ MESSAGES, 0, ALSO("\"mcp_servers\":[{\"url\":\"https://docs.example/\"}]"),
	  "provider-tools: mcp" },
	{ MESSAGES, BIT(MCP), ALSO("\"mcp_servers\":[{\"url\":\"https://docs.example/\"}]"), NULL },
	{ MESSAGES, BIT(MCP), ALSO("\"mcp_servers\":[{\"url\":\"https://evil.example/\"}]"),
	  "allow: evil.example" },
	{ MESSAGES, 0, ALSO("\"mcp_servers\":[]"), NULL },
	{ MESSAGES, BIT(MCP), ALSO("\"mcp_servers\":{\"url\":\"https://evil.example/\"}"),
	  "must be a list" },
};

static const struct sample files[] = {
	{ MESSAGES, 0,
	  BLOCK("{\"type\":\"document\",\"source\":{\"type\":\"file\",\"file_id\":\"f\"}}"),
	  "provider-tools: files" },
	{ MESSAGES, 0, BLOCK("{\"type\":\"document\",\"file_id\":\"f\"}"),
	  "the provider would read a stored file; 'provider-tools: files'" },
	{ MESSAGES, 0, BLOCK("{\"type\":\"document\",\"file_id\":null}"), NULL },
	{ MESSAGES, BIT(FILES),
	  BLOCK("{\"type\":\"document\",\"source\":{\"type\":\"file\",\"file_id\":\"f\"}}"), NULL },
	{ RESPONSES, 0, ITEM("{\"type\":\"input_file\",\"file_id\":\"f\"}"),
	  "provider-tools: files" },
	{ RESPONSES, 0, ALSO("\"conversation\":\"c\""), "provider-tools: files" },
	{ RESPONSES, BIT(FILES), ALSO("\"conversation\":\"c\""), NULL },
	{ RESPONSES, 0, ALSO("\"conversation\":null"), NULL },
	{ GEMINI, 0,
	  PARTS("{\"fileData\":{\"mimeType\":\"text/plain\",\"fileUri\":\"gs://bucket/a\"}}"),
	  "provider-tools: files" },
	{ GEMINI, 0,
	  PARTS("{\"fileData\":{\"mimeType\":\"text/plain\",\"fileUri\":\"https://docs.example/\"}}"),
	  "provider-tools: web-fetch" },
	{ GEMINI, BIT(FILES),
	  PARTS("{\"fileData\":{\"mimeType\":\"audio/mp3\",\"fileUri\":\"gs://bucket/a\"}}"),
	  "cannot be metered" },
	{ GEMINI, BIT(FILES), PARTS("{\"fileData\":{\"fileUri\":\"gs://bucket/a\"}}"),
	  "has no mimeType" },
	{ GEMINI, BIT(FILES),
	  PARTS("{\"fileData\":{\"mimeType\":\"text/plain;x\",\"fileUri\":\"gs://bucket/a\"}}"),
	  "cannot be metered" },
	{ GEMINI, BIT(FILES), PARTS("{\"fileData\":{\"mimeType\":7,\"fileUri\":\"gs://b/a\"}}"),
	  "must be a short text" },
	{ GEMINI, BIT(FILES),
	  PARTS("{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AA+/-_==\"}}"), NULL },
};

static const struct sample prices[] = {
	{ MESSAGES, 0, ALSO("\"speed\":\"fast\""), NULL },
	{ MESSAGES, 0, ALSO("\"speed\":\"warp\""), "no known price" },
	{ MESSAGES, 0, ALSO("\"speed\":7"), "no known price" },
	{ MESSAGES, 0, ALSO("\"speed\":null"), NULL },
	{ MESSAGES, 0, ALSO("\"inference_geo\":\"us\""), NULL },
	{ MESSAGES, 0, ALSO("\"inference_geo\":\"\""), "no known price" },
	{ MESSAGES, 0, ALSO("\"inference_geo\":7"), "no known price" },
	{ MESSAGES, 0, ALSO("\"container\":\"c\""), "is refused" },
	{ MESSAGES, 0, ALSO("\"container\":null"), NULL },
	{ GEMINI, 0, "{\"serviceTier\":\"SERVICE_TIER_STANDARD\"}", NULL },
	{ GEMINI, 0, "{\"serviceTier\":\"SERVICE_TIER_WARP\"}", "no known price" },
	{ MESSAGES, 0, ALSO("\"brand_new\":1"), "provider-tools: other" },
	{ MESSAGES, BIT(OTHER), ALSO("\"brand_new\":1"), NULL },
	{ MESSAGES, 0, BLOCK("{\"type\":\"brand_new\"}"), "provider-tools: other" },
	{ MESSAGES, 0, BLOCK("{\"type\":\"text\",\"brand_new\":1}"), "provider-tools: other" },
};

/* With an open network, hosts are not limited; permission is still needed. */
static const struct sample open_network[] = {
	{ MESSAGES, BIT(WEB_FETCH), TOOL("{\"type\":\"web_fetch_20250910\"}"), NULL },
	{ MESSAGES, 0, TOOL("{\"type\":\"web_fetch_20250910\"}"), "provider-tools: web-fetch" },
	{ RESPONSES, BIT(WEB_SEARCH), TOOL("{\"type\":\"web_search\"}"), NULL },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"connector_id\":\"c\"}"), NULL },
	{ RESPONSES, BIT(MCP), TOOL("{\"type\":\"mcp\",\"server_url\":\"https://evil.example/\"}"),
	  NULL },
	{ RESPONSES, 0, TOOL("{\"type\":\"mcp\",\"server_url\":\"https://evil.example/\"}"),
	  "provider-tools: mcp" },
	{ RESPONSES, ALL_TOOLS, TOOL("{\"type\":\"shell\"}"), "run at the provider" },
	{ GEMINI, BIT(WEB_FETCH), "{\"tools\":[{\"urlContext\":{}}]}", NULL },
};

/* The target as the provider gets it. */
static bool becomes(const char *path, const char *expected)
{
	struct request_target target;
	bool found = request_find("POST", 4, path, strlen(path), false, &target) == 0;

	if (!found || strcmp(target.target, expected) != 0)
		printf("# %s\n", found ? target.target : "no route");
	return found && strcmp(target.target, expected) == 0;
}

static void queries(void)
{
	CHECK("a key in the query is not passed on",
	      becomes("/v1beta/models/g:generateContent?key=secret",
		      "/v1beta/models/g:generateContent") &&
		      becomes("/v1/messages?beta=true&KEY=secret", "/v1/messages?beta=true"));
	CHECK("nor is what could change the answer",
	      becomes("/v1beta/models/g:streamGenerateContent?alt=sse&fields=x",
		      "/v1beta/models/g:streamGenerateContent?alt=sse") &&
		      becomes("/v1/messages?fields=x", "/v1/messages"));
	CHECK("empty parts are left out",
	      becomes("/v1/messages?&&beta=true&", "/v1/messages?beta=true"));
}

static void kept(void)
{
	const struct sample stored = { RESPONSES, ALL_TOOLS, ALSO("\"conversation\":\"c\""), NULL };
	const struct sample server = { MESSAGES, ALL_TOOLS,
				       ALSO("\"mcp_servers\":[{\"url\":\"https://docs.example\"}]"),
				       NULL };
	const struct sample fast = { GEMINI, 0, "{\"serviceTier\":\"SERVICE_TIER_PRIORITY\"}",
				     NULL };
	const struct sample geo = { MESSAGES, 0, ALSO("\"inference_geo\":\"us\""), NULL };
	const struct sample global = { MESSAGES, 0, ALSO("\"inference_geo\":\"global\""), NULL };
	struct request_body body;

	CHECK("a conversation that the provider keeps counts as content elsewhere",
	      !judge(&stored, false, &body) && body.elsewhere);
	CHECK("a server does not", !judge(&server, false, &body) && !body.elsewhere);
	CHECK("a tier with a prefix is the fast one", !judge(&fast, false, &body) && body.fast);
	CHECK("a region is kept for the price",
	      !judge(&geo, false, &body) && strcmp(body.geo, "us") == 0);
	CHECK("the usual region is not kept", !judge(&global, false, &body) && !body.geo[0]);
}

int main(void)
{
	CHECK("a tool that fetches pages is limited to listed domains", JUDGED(fetching, false));
	CHECK("a tool that searches needs permission, and opens no pages",
	      JUDGED(searching, false));
	CHECK("nothing runs at the provider without permission", JUDGED(running, false));
	CHECK("servers and connectors need permission and a listed host", JUDGED(servers, false));
	CHECK("stored files need permission", JUDGED(files, false));
	CHECK("nothing without a known price passes", JUDGED(prices, false));
	CHECK("an open network limits no hosts", JUDGED(open_network, true));
	queries();
	kept();
	return unit_failures > 0;
}
