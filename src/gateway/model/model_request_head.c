/* The head of a request to a model: its route, its credentials, and the headers to forward. See
 * model_request.h. */
#include "gateway/model/model_request.h"

#include "util/mem.h"
#include "util/text/consttime.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Guesses the format of a client whose route is unknown. */
static enum usage_format guess_format(const struct http_request *http, bool anthropic)
{
	if (anthropic)
		return USAGE_ANTHROPIC;
	if (http->path.size > 7 && memcmp(http->path.at, "/v1beta", 7) == 0)
		return USAGE_GEMINI;
	return USAGE_CHAT;
}

/* The relevant properties of a client's head. */
struct traits {
	bool anthropic;
	bool token;
	char child[64];
};

static bool is_token(const struct engine *engine, struct http_text given)
{
	return consttime_equal(given.at, given.size, engine->config.token);
}

static bool carries_key(struct http_text name)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (http_text_is(name, provider_at(i)->key_header))
			return true;
	return http_text_is(name, "authorization") || http_text_is(name, "api-key");
}

/* Returns true if the query has the token as a key, as some Gemini clients send it. */
static bool token_in_query(const struct engine *engine, struct http_text path)
{
	const char *at = memmem(path.at, path.size, "key=", 4);
	size_t left = at ? path.size - (size_t)(at + 4 - path.at) : 0;
	const char *end = at ? memchr(at + 4, '&', left) : NULL;

	return at && at > path.at && (at[-1] == '?' || at[-1] == '&') &&
	       is_token(engine, (struct http_text){ at + 4, end ? (size_t)(end - at - 4) : left });
}

static void read_traits(const struct engine *engine, const struct http_request *http,
			struct traits *traits)
{
	struct http_text lines = http->message.lines;
	struct http_text name;
	struct http_text value;

	traits->token = token_in_query(engine, http->path);
	while (http_line_next(&lines, &name, &value)) {
		traits->anthropic |= http_text_is(name, provider_at(PROVIDER_ANTHROPIC)->head_mark);
		if (carries_key(name)) {
			struct http_text key = value;

			if (key.size > 7 && strncasecmp(key.at, "Bearer ", 7) == 0)
				key = (struct http_text){ key.at + 7, key.size - 7 };
			traits->token |= is_token(engine, key);
		}
		if (http_text_is(name, "x-claude-code-agent-id"))
			snprintf(traits->child, sizeof traits->child, "%.*s",
				 (int)(value.size < 63 ? value.size : 63), value.at);
	}
}

/* Returns true if the provider may see this header: its own, and those that its clients describe
 * themselves with. Others could change how the body is read, or give orders to a server in between,
 * such as another address to forward everything to. A name with a final '-' is a prefix. */
static bool is_forwarded(struct http_text name)
{
	static const char *const names[] = {
		"accept",
		"accept-language",
		"user-agent",
		"anthropic-beta",
		"anthropic-version",
		"openai-beta",
		"openai-organization",
		"openai-project",
		"x-goog-api-client",
		"x-goog-user-project",
		"x-stainless-",
		"x-app",
		"x-claude-code-",
		"x-codex-",
		"originator",
		"session_id",
		"session-id",
		"thread_id",
		"thread-id",
		"conversation_id",
		"x-client-request-id",
		"x-request-id",
		"idempotency-key",
		"x-session-affinity",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t size = strlen(names[i]);
		bool prefix = names[i][size - 1] == '-';

		if (prefix ? name.size > size && strncasecmp(name.at, names[i], size) == 0
			   : http_text_is(name, names[i]))
			return true;
	}
	return false;
}

static void keep_lines(const struct http_request *http, struct buffer *out)
{
	struct http_text lines = http->message.lines;
	struct http_text name;
	struct http_text value;

	while (http_line_next(&lines, &name, &value)) {
		if (http_line_dropped(name, &http->message) || carries_key(name) ||
		    !is_forwarded(name))
			continue;
		buffer_add(out, name.at, name.size);
		buffer_add_text(out, ": ");
		buffer_add(out, value.at, value.size);
		buffer_add_text(out, "\r\n");
	}
}

/* The rules for hosts also limit where a provider may connect for the client. */
static bool allows_host(const void *context, const char *host, uint16_t port)
{
	const struct owner_protocol_config *config = context;
	struct rule_target target;
	struct error ignored;

	if (rule_target_parse(host, port, &target, &ignored) < 0)
		return false;
	for (size_t i = 0; i < config->rule_count; i++)
		if (rule_allows(&config->rules[i], &target))
			return true;
	return false;
}

static struct request_policy policy_for(const struct engine *engine, enum provider_id provider)
{
	const struct model_config *models = &engine->config.models;

	return (struct request_policy){
		.tools = models->tools,
		.local = models->providers[provider].free,
		.allows = models->any_host ? NULL : allows_host,
		.context = &engine->config,
	};
}

static struct model_request *make_request(struct connection *connection,
					  const struct http_request *http,
					  const struct request_target *target,
					  const struct traits *traits)
{
	struct engine *engine = connection->engine;
	const struct request_policy policy = policy_for(engine, target->route->provider);
	struct model_request *request = mem_zero(sizeof *request);

	request->connection = connection;
	request->engine = engine;
	request->spool = -1;
	request->target = *target;
	request->upstream = &engine->upstreams[target->route->provider];
	request->keep = http->message.keep;
	request->kind = http->message.body;
	request->left = http->message.length;
	request->chunks.strict = true;
	request->lines = BUFFER_INIT(connection->input.max + 1024);
	request->memory = BUFFER_INIT(MODEL_REQUEST_MEMORY);
	request->head = BUFFER_INIT(connection->input.max + 4096);
	request->answer = BUFFER_INIT(connection->input.max);
	request->held = BUFFER_INIT(MODEL_REQUEST_HELD_MOST);
	request->event = BUFFER_INIT(MODEL_REQUEST_EVENT_MOST);
	request->began_ms = engine->loop.now_ms;
	memcpy(request->child, traits->child, sizeof request->child);
	keep_lines(http, &request->lines);
	request_body_init(&request->body, &request->target, &policy);
	budget_enter(&request->engine->budget, &request->spender);
	return request;
}

/* Only a person can fix a missing key, if this is a real request and not a probe. */
static void refuse_key(struct connection *connection, enum usage_format format,
		       const struct request_target *target, const char *text)
{
	if (target->route && target->route->billed)
		budget_report_failure(&connection->engine->budget, FAILURE_AUTHENTICATION, text);
	model_request_refuse(connection, format, SHAPE_KEY, text);
}

/* Checks a request by its head. Returns true if it is acceptable; otherwise it was refused. */
static bool check_head(struct connection *connection, const struct http_request *http,
		       const struct request_target *target, const struct traits *traits,
		       enum usage_format format)
{
	const struct engine *engine = connection->engine;
	const struct model_config_provider *provider;
	char text[256];

	if (http->message.upgrade || http->message.minor == 0) {
		model_request_refuse(connection, format, SHAPE_UPGRADE,
				     "only plain HTTP/1.1 requests are supported here");
		return false;
	}
	if (!traits->token) {
		refuse_key(connection, format, target,
			   "the key is not the token of this run; use that token, the gateway "
			   "adds the real key");
		return false;
	}
	if (!target->route) {
		model_request_refuse(connection, format, SHAPE_ROUTE,
				     "there is no such model route");
		return false;
	}
	provider = &engine->config.models.providers[target->route->provider];
	if (!provider->place.set) {
		snprintf(text, sizeof text, "there is no key for %s; set one with --model-key",
			 provider_at(target->route->provider)->name);
		refuse_key(connection, format, target, text);
		return false;
	}
	if (engine->budget.money.latched && target->route->billed && !provider->free) {
		model_request_refuse(connection, format, SHAPE_BUDGET, engine->budget.why);
		return false;
	}
	/* The body would be sent without a length and be read as the next request. */
	if (strcmp(target->route->method, "POST") != 0 &&
	    (http->message.body == HTTP_CHUNKS || http->message.length > 0)) {
		model_request_refuse(connection, format, SHAPE_REQUEST,
				     "this request must not have a body");
		return false;
	}
	if (http->message.body == HTTP_LENGTH && http->message.length > MODEL_REQUEST_BODY_MOST) {
		model_request_refuse(connection, format, SHAPE_LARGE,
				     "a request must not exceed 32 MiB");
		return false;
	}
	return true;
}

bool model_request_head(struct connection *connection, enum http_form form, size_t head)
{
	struct engine *engine = connection->engine;
	struct request_target target = { 0 };
	struct traits traits = { 0 };
	struct http_request http;
	enum usage_format format;
	const char *wrong = http_request_read(connection->input.data, head, form, &http);

	if (wrong) {
		connection_access_fail(connection, 400, SOCKS_FAILED, "bad request: %s", wrong);
		return false;
	}
	read_traits(engine, &http, &traits);
	if (request_find(http.method.at, http.method.size, http.path.at, http.path.size,
			 traits.anthropic, &target) < 0)
		target.route = NULL;
	format = target.route ? target.route->format : guess_format(&http, traits.anthropic);
	if (!check_head(connection, &http, &target, &traits, format) || !target.route)
		return false;
	connection->request = make_request(connection, &http, &target, &traits);
	connection->stage = CONNECTION_STAGE_MODEL;
	connection_consume(connection, head);
	event_loop_alarm_start(&engine->loop, &engine->body, &connection->alarm);
	if (http.message.expects &&
	    connection_side_say(&connection->client, "HTTP/1.1 100 Continue\r\n\r\n") < 0) {
		connection_end(connection);
		return false;
	}
	model_request_begin(connection);
	return false;
}
