/* The head of a request to a model: which route it is, who asks, and what of it goes on. See model_request.h. */
#include "gateway/model/model_request.h"

#include "util/consttime.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The form of a client whose route is not known. */
static enum usage_format guess_format(const struct http_request *request, bool anthropic)
{
	if (anthropic)
		return USAGE_ANTHROPIC;
	if (request->path.size > 7 && memcmp(request->path.at, "/v1beta", 7) == 0)
		return USAGE_GEMINI;
	return USAGE_CHAT;
}

/* What a client's head says that is of interest here. */
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

/* A key in the query, as some clients of Gemini have it. */
static bool token_in_query(const struct engine *engine, struct http_text path)
{
	const char *at = memmem(path.at, path.size, "key=", 4);
	size_t left = at ? path.size - (size_t)(at + 4 - path.at) : 0;
	const char *end = at ? memchr(at + 4, '&', left) : NULL;

	return at && at > path.at && (at[-1] == '?' || at[-1] == '&') &&
	       is_token(engine, (struct http_text){ at + 4, end ? (size_t)(end - at - 4) : left });
}

static void read_traits(const struct engine *engine, const struct http_request *request,
			struct traits *traits)
{
	struct http_text lines = request->message.lines;
	struct http_text name;
	struct http_text value;

	traits->token = token_in_query(engine, request->path);
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

/* Lines that go on. The client's keys and cookies do not, what is compressed cannot be metered, and the provider must
 * read the body as it was read here. */
static void keep_lines(const struct http_request *request, struct buffer *out)
{
	static const char *const not_on[] = { "cookie",
					      "accept-encoding",
					      "expect",
					      "forwarded",
					      "via",
					      "content-type",
					      "content-encoding",
					      "x-http-method-override",
					      "x-http-method",
					      "x-method-override",
					      "x-goog-fieldmask",
					      "x-forwarded-for",
					      "x-forwarded-host",
					      "x-real-ip" };
	struct http_text lines = request->message.lines;
	struct http_text name;
	struct http_text value;

	while (http_line_next(&lines, &name, &value)) {
		bool drop = http_line_dropped(name, &request->message) || carries_key(name);

		for (size_t i = 0; i < sizeof not_on / sizeof *not_on; i++)
			drop = drop || http_text_is(name, not_on[i]);
		if (drop)
			continue;
		buffer_add(out, name.at, name.size);
		buffer_add_text(out, ": ");
		buffer_add(out, value.at, value.size);
		buffer_add_text(out, "\r\n");
	}
}

static struct model_request *make_call(struct connection *connection,
				       const struct http_request *request,
				       const struct request_target *target,
				       const struct traits *traits)
{
	struct engine *engine = connection->engine;
	struct model_request *call = mem_zero(sizeof *call);

	call->connection = connection;
	call->engine = engine;
	call->spool = -1;
	call->target = *target;
	call->upstream = &engine->upstreams[target->route->provider];
	call->keep = request->message.keep;
	call->kind = request->message.body;
	call->left = request->message.length;
	call->chunks.strict = true;
	call->lines = BUFFER_INIT(connection->input.max + 1024);
	call->memory = BUFFER_INIT(MODEL_REQUEST_MEMORY);
	call->head = BUFFER_INIT(connection->input.max + 4096);
	call->answer = BUFFER_INIT(connection->input.max);
	call->event = BUFFER_INIT(MODEL_REQUEST_EVENT_MOST);
	call->began_ms = engine->loop.now_ms;
	memcpy(call->child, traits->child, sizeof call->child);
	keep_lines(request, &call->lines);
	request_body_init(&call->body, &call->target);
	budget_enter(&call->engine->budget, &call->spender);
	return call;
}

/* Only a person can help here, if it is a request for work and not a probe. */
static void refuse_key(struct connection *connection, enum usage_format format,
		       const struct request_target *target, const char *text)
{
	if (target->route && target->route->billed)
		budget_tell_failure(&connection->engine->budget, FAILURE_AUTHENTICATION, text);
	model_request_refuse(connection, format, SHAPE_KEY, text);
}

/* What is wrong with a request by its head alone. Returns true if nothing is. */
static bool judge_head(struct connection *connection, const struct http_request *request,
		       const struct request_target *target, const struct traits *traits,
		       enum usage_format format)
{
	const struct engine *engine = connection->engine;
	const struct model_config_provider *provider;
	char text[256];

	if (request->message.upgrade || request->message.minor == 0) {
		model_request_refuse(connection, format, SHAPE_UPGRADE,
				     "only plain requests of HTTP/1.1 are served here");
		return false;
	}
	if (!traits->token) {
		refuse_key(connection, format, target,
			   "the key is not the token of this run; the real key is added outside");
		return false;
	}
	if (!target->route) {
		model_request_refuse(connection, format, SHAPE_ROUTE,
				     "there is no such route to a model");
		return false;
	}
	provider = &engine->config.models.providers[target->route->provider];
	if (!provider->place.set) {
		snprintf(text, sizeof text, "there is no key for %s",
			 provider_at(target->route->provider)->name);
		refuse_key(connection, format, target, text);
		return false;
	}
	if (engine->budget.money.latched && target->route->billed && !provider->free) {
		model_request_refuse(connection, format, SHAPE_BUDGET, engine->budget.why);
		return false;
	}
	/* It would be sent on without a length, and read there as the next request. */
	if (strcmp(target->route->method, "POST") != 0 &&
	    (request->message.body == HTTP_CHUNKS || request->message.length > 0)) {
		model_request_refuse(connection, format, SHAPE_REQUEST, "this request has no body");
		return false;
	}
	if (request->message.body == HTTP_LENGTH &&
	    request->message.length > MODEL_REQUEST_BODY_MOST) {
		model_request_refuse(connection, format, SHAPE_LARGE,
				     "a request has at most 32 MiB");
		return false;
	}
	return true;
}

bool model_request_head(struct connection *connection, size_t head)
{
	struct engine *engine = connection->engine;
	struct request_target target = { 0 };
	struct traits traits = { 0 };
	struct http_request request;
	enum usage_format format;
	const char *wrong = http_request_read(connection->input.data, head, HTTP_ORIGIN, &request);

	if (wrong) {
		connection_access_fail(connection, 400, SOCKS_FAILED, "bad request: %s", wrong);
		return false;
	}
	read_traits(engine, &request, &traits);
	if (request_find(request.method.at, request.method.size, request.path.at, request.path.size,
			 traits.anthropic, &target) < 0)
		target.route = NULL;
	format = target.route ? target.route->format : guess_format(&request, traits.anthropic);
	if (!judge_head(connection, &request, &target, &traits, format) || !target.route)
		return false;
	connection->call = make_call(connection, &request, &target, &traits);
	connection->stage = CONNECTION_STAGE_CALL;
	connection_consume(connection, head);
	event_loop_alarm_start(&engine->loop, &engine->body, &connection->alarm);
	if (request.message.expects &&
	    connection_side_say(&connection->client, "HTTP/1.1 100 Continue\r\n\r\n") < 0) {
		connection_end(connection);
		return false;
	}
	model_request_begin(connection);
	return false;
}
