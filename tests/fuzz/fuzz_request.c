// sources: src/meter/request.c src/meter/request_body.c src/meter/request_check.c
// sources: src/meter/request_edit.c src/meter/schema.c src/meter/schema_anthropic.c
// sources: src/meter/schema_gemini.c src/meter/schema_openai.c src/meter/jsonscan.c
// sources: src/provider/provider.c src/provider/provider_tool.c
/* A model request: "METHOD TARGET", a newline, and the body. */
#include "fuzz.h"

#include "meter/request.h"

#include <stdlib.h>
#include <string.h>

static bool allows(const void *context, const char *host, uint16_t port)
{
	(void)context;
	if (!host[0] || strpbrk(host, "/@\\?#% ") || port == 0)
		abort();
	return host[0] == 'a';
}

/* With and without permission, and with and without a network policy. */
static const struct request_policy policies[] = {
	{ .allows = allows },
	{ .tools = (1U << PROVIDER_TOOL_COUNT) - 1, .allows = allows },
	{ .tools = (1U << PROVIDER_TOOL_COUNT) - 1 },
	{ .local = true },
};

/* Applies the edits and reads the body again: it must still be valid and contain the edits. */
static void check_edits(struct request_body *body, const struct request_target *target,
			const char *text, size_t size, const struct request_policy *policy)
{
	static struct request_body again;
	uint64_t tokens = body->most / 2;
	uint64_t at = 0;

	request_body_limit(body, tokens);
	request_body_ask_usage(body);
	request_body_init(&again, target, policy);
	for (size_t i = 0; i < body->edit_count; i++) {
		if (body->edits[i].at < at || body->edits[i].at + body->edits[i].remove > size)
			abort();
		request_body_feed(&again, text + at, body->edits[i].at - at);
		request_body_feed(&again, body->edits[i].text, strlen(body->edits[i].text));
		at = body->edits[i].at + body->edits[i].remove;
	}
	request_body_feed(&again, text + at, size - at);
	if (request_body_end(&again) || again.most > tokens ||
	    strcmp(again.model, body->model) != 0 || again.stream != body->stream)
		abort();
	if (again.route->format == USAGE_CHAT && again.stream && !again.asks_usage)
		abort();
}

void fuzz_request(const uint8_t *data, size_t size)
{
	static struct request_body body;
	const char *text = (const char *)data;
	const char *blank = memchr(text, ' ', size);
	const char *line = blank ? memchr(blank, '\n', size - (size_t)(blank - text)) : NULL;
	struct request_target target;

	if (!line || request_find(text, (size_t)(blank - text), blank + 1,
				  (size_t)(line - blank - 1), size % 2, &target) < 0)
		return;
	if (strpbrk(target.target, "% \r\n#\\") || strstr(target.target, "/.") ||
	    strstr(target.target, "/."))
		abort();
	size -= (size_t)(line + 1 - text);
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		request_body_init(&body, &target, &policies[i]);
		request_body_feed(&body, line + 1, size);
		if (!request_body_end(&body) && body.most > 1)
			check_edits(&body, &target, line + 1, size, &policies[i]);
	}
}

FUZZ_TARGET(fuzz_request)
