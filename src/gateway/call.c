/* A request to a model: its head, its body, and the money for it. See call.h. */
#include "gateway/call.h"

#include "util/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- saying no */

void call_refuse(struct visit *visit, enum usage_format format, enum shape_reason reason,
		 const char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(16384);
	AUTO_FREE char *sentence = mem_format("ringfence: %s", text);

	shape_refuse(&out, format, reason, sentence, false);
	visit->engine->till.refused += reason == SHAPE_BUDGET;
	call_free(visit->call);
	visit->call = NULL;
	visit->stage = STAGE_HEAD;
	if (side_send(&visit->client, buffer_text(&out), out.used) < 0)
		visit_end(visit);
	else
		visit_finish(visit);
}

static bool refuse_call(struct call *call, enum shape_reason reason, const char *text)
{
	call_refuse(call->visit, call->target.route->format, reason, text);
	return false;
}

/* The form of a client whose route is not known. */
static enum usage_format guess_format(const struct http_request *request, bool anthropic)
{
	if (anthropic)
		return USAGE_ANTHROPIC;
	if (request->path.size > 7 && memcmp(request->path.at, "/v1beta", 7) == 0)
		return USAGE_GEMINI;
	return USAGE_CHAT;
}

/* --- its head */

/* What a client's head says that is of interest here. */
struct traits {
	bool anthropic;
	bool token;
	char child[64];
};

static bool is_token(const struct engine *engine, struct http_text given)
{
	const char *expected = engine->config.token;
	unsigned char difference = 0;

	if (given.size != strlen(expected))
		return false;
	for (size_t i = 0; i < given.size; i++)
		difference |= (unsigned char)(given.at[i] ^ expected[i]);
	return difference == 0;
}

static bool carries_key(struct http_text name)
{
	return http_text_is(name, "x-api-key") || http_text_is(name, "authorization") ||
	       http_text_is(name, "x-goog-api-key") || http_text_is(name, "api-key");
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
		traits->anthropic |= http_text_is(name, "anthropic-version");
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

static void enter(struct call *call)
{
	struct till *till = &call->engine->till;

	call->prev = till->last;
	if (till->last)
		till->last->next = call;
	else
		till->calls = call;
	till->last = call;
}

static void leave(struct call *call)
{
	struct till *till = &call->engine->till;

	if (call->prev)
		call->prev->next = call->next;
	else
		till->calls = call->next;
	if (call->next)
		call->next->prev = call->prev;
	else
		till->last = call->prev;
}

struct call *call_next(const struct call *call)
{
	return call->next;
}

static struct call *make_call(struct visit *visit, const struct http_request *request,
			      const struct request_target *target, const struct traits *traits)
{
	struct engine *engine = visit->engine;
	struct call *call = mem_zero(sizeof *call);

	call->visit = visit;
	call->engine = engine;
	call->spool = -1;
	call->target = *target;
	call->upstream = &engine->upstreams[target->route->provider];
	call->keep = request->message.keep;
	call->kind = request->message.body;
	call->left = request->message.length;
	call->chunks.strict = true;
	call->lines = BUFFER_INIT(visit->input.max + 1024);
	call->memory = BUFFER_INIT(CALL_MEMORY);
	call->head = BUFFER_INIT(visit->input.max + 4096);
	call->answer = BUFFER_INIT(visit->input.max);
	call->event = BUFFER_INIT(CALL_EVENT_MOST);
	call->began_ms = engine->loop.now_ms;
	memcpy(call->child, traits->child, sizeof call->child);
	keep_lines(request, &call->lines);
	request_body_init(&call->body, &call->target);
	enter(call);
	return call;
}

/* What is wrong with a request by its head alone. Returns true if nothing is. */
static bool judge_head(struct visit *visit, const struct http_request *request,
		       const struct request_target *target, const struct traits *traits,
		       enum usage_format format)
{
	const struct engine *engine = visit->engine;
	const struct models_provider *provider;
	char text[256];

	if (request->message.upgrade || request->message.minor == 0) {
		call_refuse(visit, format, SHAPE_UPGRADE,
			    "only plain requests of HTTP/1.1 are served here");
		return false;
	}
	if (!traits->token) {
		call_refuse(visit, format, SHAPE_KEY,
			    "the key is not the token of this run; the real key is added outside");
		return false;
	}
	if (!target->route) {
		call_refuse(visit, format, SHAPE_ROUTE, "there is no such route to a model");
		return false;
	}
	provider = &engine->config.models.providers[target->route->provider];
	if (!provider->place.set) {
		snprintf(text, sizeof text, "there is no key for %s",
			 request_provider_names[target->route->provider]);
		call_refuse(visit, format, SHAPE_KEY, text);
		return false;
	}
	if (engine->till.money.latched && target->route->billed && !provider->free) {
		call_refuse(visit, format, SHAPE_BUDGET, engine->till.why);
		return false;
	}
	/* It would be sent on without a length, and read there as the next request. */
	if (strcmp(target->route->method, "POST") != 0 &&
	    (request->message.body == HTTP_CHUNKS || request->message.length > 0)) {
		call_refuse(visit, format, SHAPE_REQUEST, "this request has no body");
		return false;
	}
	if (request->message.body == HTTP_LENGTH && request->message.length > CALL_BODY_MOST) {
		call_refuse(visit, format, SHAPE_LARGE, "a request has at most 32 MiB");
		return false;
	}
	return true;
}

static void finish_body(struct call *call);
static size_t take_body(struct call *call, const char *bytes, size_t size);

bool call_head(struct visit *visit, size_t head)
{
	struct engine *engine = visit->engine;
	struct request_target target = { 0 };
	struct traits traits = { 0 };
	struct http_request request;
	enum usage_format format;
	const char *wrong = http_request_read(visit->input.data, head, HTTP_ORIGIN, &request);

	if (wrong) {
		judge_fail(visit, 400, SOCKS_FAILED, "bad request: %s", wrong);
		return false;
	}
	read_traits(engine, &request, &traits);
	if (request_find(request.method.at, request.method.size, request.path.at, request.path.size,
			 traits.anthropic, &target) < 0)
		target.route = NULL;
	format = target.route ? target.route->format : guess_format(&request, traits.anthropic);
	if (!judge_head(visit, &request, &target, &traits, format) || !target.route)
		return false;
	visit->call = make_call(visit, &request, &target, &traits);
	visit->stage = STAGE_CALL;
	visit_consume(visit, head);
	alarm_start(&engine->loop, &engine->body, &visit->alarm);
	if (request.message.expects &&
	    side_say(&visit->client, "HTTP/1.1 100 Continue\r\n\r\n") < 0) {
		visit_end(visit);
		return false;
	}
	if (visit->input.used > 0) {
		size_t taken = take_body(visit->call, visit->input.data, visit->input.used);

		if (visit->stage != STAGE_CALL)
			return false;
		visit_consume(visit, taken);
	}
	if (visit->stage == STAGE_CALL && visit->call->state == CALL_READING &&
	    (visit->call->kind == HTTP_NOTHING ||
	     (visit->call->kind == HTTP_LENGTH && visit->call->left == 0)))
		finish_body(visit->call);
	return false;
}

/* --- its body */

/* In our own memory while it is small, in a memory file when it is not: that is no memory of ours, and counted. */
static bool spool(struct call *call, const char *bytes, size_t size)
{
	struct engine *engine = call->engine;

	if (call->size + size > CALL_BODY_MOST)
		return refuse_call(call, SHAPE_LARGE, "a request has at most 32 MiB");
	request_body_feed(&call->body, bytes, size);
	if (call->spool < 0 && call->memory.used + size <= CALL_MEMORY) {
		buffer_add(&call->memory, bytes, size);
		call->size += size;
		return true;
	}
	if (engine->spooled + size + call->memory.used > CALL_SPOOL_MOST)
		return refuse_call(call, SHAPE_BUSY, "too many large requests at once");
	if (call->spool < 0) {
		call->spool = memfd_create("ringfence-request", MFD_CLOEXEC);
		if (call->spool < 0 ||
		    fd_write_all(call->spool, call->memory.data, call->memory.used) < 0)
			return refuse_call(call, SHAPE_BUSY,
					   "there is no memory for a large request");
		engine->spooled += call->memory.used;
		buffer_release(&call->memory);
	}
	if (fd_write_all(call->spool, bytes, size) < 0)
		return refuse_call(call, SHAPE_BUSY, "there is no memory for a large request");
	engine->spooled += size;
	call->size += size;
	return true;
}

/* Takes what belongs to the body. Returns how much that was; the visit may have ended. */
static size_t take_body(struct call *call, const char *bytes, size_t size)
{
	struct visit *visit = call->visit;
	size_t at = 0;

	while (at < size && call->state == CALL_READING) {
		struct http_text data = { bytes + at, 0 };
		ssize_t taken;

		if (call->kind == HTTP_CHUNKS) {
			taken = http_chunks_take(&call->chunks, bytes + at, size - at, &data);
			if (taken < 0) {
				refuse_call(call, SHAPE_REQUEST, "the chunks of the body are none");
				return size;
			}
		} else {
			data.size = call->left < size - at ? (size_t)call->left : size - at;
			taken = (ssize_t)data.size;
			call->left -= data.size;
		}
		at += (size_t)taken;
		if (data.size > 0 && !spool(call, data.at, data.size))
			return size;
		if (call->kind == HTTP_CHUNKS ? call->chunks.done : call->left == 0) {
			finish_body(call);
			break;
		}
	}
	return visit->stage == STAGE_CALL ? at : size;
}

bool call_wants_client(const struct visit *visit)
{
	return visit->call->state == CALL_READING;
}

void call_from_client(struct visit *visit)
{
	struct engine *engine = visit->engine;
	ssize_t n = side_receive(&visit->client, ENGINE_SCRATCH);
	size_t taken;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		visit_end(visit);
		return;
	}

	/* What is behind the body is the next request; it waits for its turn, if there is room for it. */
	struct call *call = visit->call;

	taken = take_body(call, engine->scratch, (size_t)n);
	if (visit->stage != STAGE_CALL || taken == (size_t)n)
		return;
	if ((size_t)n - taken > visit->input.max)
		call->keep = false;
	else
		buffer_add(&visit->input, engine->scratch + taken, (size_t)n - taken);
}

/* All of it has a time, not each piece: a byte now and then would hold a connection for ever. */
void call_too_slow(struct visit *visit)
{
	char text[128];

	snprintf(text, sizeof text, "the body of the request was not whole within %u milliseconds",
		 (unsigned int)visit->engine->config.caps.body_ms);
	refuse_call(visit->call, SHAPE_SLOW, text);
}

/* All of the body is here. */
static void finish_body(struct call *call)
{
	struct engine *engine = call->engine;
	const struct models_provider *provider = call->upstream->provider;
	const char *wrong = call->size > 0 || call->target.route->billed
				    ? request_body_end(&call->body)
				    : NULL;
	char text[320];

	alarm_start(&engine->loop, &engine->idle, &call->visit->alarm);
	if (wrong) {
		refuse_call(call, SHAPE_REQUEST, wrong);
		return;
	}
	if (!call->target.route->billed) {
		call_connect(call);
		return;
	}
	call->model = price_find(&engine->config.models.prices, call->body.model);
	if (!call->model && !provider->free && engine->config.models.refuse_unknown) {
		snprintf(
			text, sizeof text,
			"the price of the model '%.127s' is not known, and such models are refused (unknown-model)",
			call->body.model);
		refuse_call(call, SHAPE_MODEL, text);
		return;
	}
	call->state = CALL_WAITING;
	till_changed(engine);
}

/* --- money */

bool call_waits(const struct call *call)
{
	return call->state == CALL_WAITING;
}

bool call_pay(struct call *call)
{
	struct engine *engine = call->engine;
	struct till *till = &engine->till;
	uint64_t elsewhere = request_body_elsewhere(&call->body);
	uint64_t guess = till_guess(till, call->model, call->size);
	const struct money_want want = {
		.table = &engine->config.models.prices,
		.model = call->model,
		.free = call->upstream->provider->free,
		.fast = call->body.fast,
		.input = call->size + elsewhere,
		.likely = guess ? guess + elsewhere : 0,
		.output = call->body.most,
		.answers = call->body.answers,
		.floor = request_body_floor(&call->body),
	};
	uint64_t output = 0;
	uint64_t nusd = 0;

	switch (money_reserve(&till->money, &want, &call->reserved, &output, &nusd)) {
	case MONEY_GO:
		call->priced = true;
		till->why[0] = '\0';
		if (output < call->body.most)
			request_body_limit(&call->body, output);
		request_body_ask_usage(&call->body);
		call_connect(call);
		return true;
	case MONEY_ASK:
		till_ask(engine, nusd, false);
		return false;
	case MONEY_WAIT:
		return false;
	default:
		/* The owner has the last word: it says which limit it is, or that there is more by now. */
		if (!till->why[0] && !till->money.latched) {
			till_ask(engine, nusd, false);
			return false;
		}
		till_latch(engine); /* refuses this one, too */
		return true;
	}
}

void call_cut(struct call *call)
{
	struct visit *visit = call->visit;
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer last = BUFFER_INIT(4096);

	if (!call->target.route->billed || call->upstream->provider->free)
		return;
	if (call->state != CALL_ANSWERED) {
		refuse_call(call, SHAPE_BUDGET, call->engine->till.why);
		return;
	}
	call->engine->till.refused++;
	/* A cut is no end of a message: the client asks again, and is refused then. */
	if (call->frames && call->reader.stream &&
	    shape_stream_end(&last, call->target.route->format, call->engine->till.why)) {
		buffer_printf(&out, "%zx\r\n%s\r\n0\r\n\r\n", last.used, buffer_text(&last));
		if (side_send(&visit->client, buffer_text(&out), out.used) == 0) {
			call_free(call);
			visit->call = NULL;
			visit_finish(visit);
			return;
		}
	}
	visit_reset(visit);
}

void call_abandon(struct call *call)
{
	visit_reset(call->visit);
}

void call_free(struct call *call)
{
	if (!call)
		return;
	call_settle(call);
	record_end(call);
	call->state = CALL_OVER;
	leave(call);
	link_put(call->link, false);
	if (call->spool >= 0) {
		call->engine->spooled -= call->size;
		close(call->spool);
	}
	buffer_release(&call->lines);
	buffer_release(&call->memory);
	buffer_release(&call->head);
	buffer_release(&call->answer);
	buffer_release(&call->event);
	loop_free_later(&call->engine->loop, call);
}
