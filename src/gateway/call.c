/* A request to a model: its body, and the money for it. See call.h. */
#include "gateway/call.h"

#include "util/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- saying no */

void call_refuse(struct visit *visit, enum usage_format format, enum shape_reason reason,
		 const char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(16384);
	AUTO_FREE char *sentence = mem_format("ringfence: %s", text);

	shape_refuse(&out, format, reason, sentence, false);
	visit->engine->budget.refused += reason == SHAPE_BUDGET;
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

/* --- its body */

static void finish_body(struct call *call);
static size_t take_body(struct call *call, const char *bytes, size_t size);

void call_begin(struct visit *visit)
{
	if (visit->input.used > 0) {
		size_t taken = take_body(visit->call, visit->input.data, visit->input.used);

		if (visit->stage != STAGE_CALL)
			return;
		visit_consume(visit, taken);
	}
	if (visit->stage == STAGE_CALL && visit->call->state == CALL_READING &&
	    (visit->call->kind == HTTP_NOTHING ||
	     (visit->call->kind == HTTP_LENGTH && visit->call->left == 0)))
		finish_body(visit->call);
}

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

	event_loop_alarm_start(&engine->loop, &engine->idle, &call->visit->alarm);
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
	budget_changed(&engine->budget);
}

/* --- money */

static struct call *call_of(struct budget_spender *spender)
{
	return EVENT_LOOP_OWNER(spender, struct call, spender);
}

static bool waits(const struct budget_spender *spender)
{
	return EVENT_LOOP_OWNER(spender, const struct call, spender)->state == CALL_WAITING;
}

static bool pay(struct budget_spender *spender)
{
	struct call *call = call_of(spender);
	struct engine *engine = call->engine;
	struct budget *budget = &engine->budget;
	uint64_t elsewhere = request_body_elsewhere(&call->body);
	uint64_t guess = budget_guess(budget, call->model, call->size);
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

	switch (money_reserve(&budget->money, &want, &call->reserved, &output, &nusd)) {
	case MONEY_GO:
		call->priced = true;
		budget->usual = call->reserved;
		budget->why[0] = '\0';
		if (output < call->body.most)
			request_body_limit(&call->body, output);
		request_body_ask_usage(&call->body);
		call_connect(call);
		return true;
	case MONEY_ASK:
		budget_ask(&engine->budget, nusd, false);
		return false;
	case MONEY_WAIT:
		return false;
	default:
		/* The owner has the last word: it says which limit it is, or that there is more by now. */
		if (!budget->why[0] && !budget->money.latched) {
			budget_ask(&engine->budget, nusd, false);
			return false;
		}
		budget_latch(&engine->budget); /* refuses this one, too */
		return true;
	}
}

static void cut(struct budget_spender *spender)
{
	struct call *call = call_of(spender);
	struct visit *visit = call->visit;
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer last = BUFFER_INIT(4096);

	if (!call->target.route->billed || call->upstream->provider->free)
		return;
	if (call->state != CALL_ANSWERED) {
		refuse_call(call, SHAPE_BUDGET, call->engine->budget.why);
		return;
	}
	call->engine->budget.refused++;
	/* A cut is no end of a message: the client asks again, and is refused then. */
	if (call->frames && call->reader.stream &&
	    shape_stream_end(&last, call->target.route->format, call->engine->budget.why)) {
		http_chunk_write(buffer_text(&last), last.used, &out);
		buffer_add_text(&out, "0\r\n\r\n");
		if (side_send(&visit->client, buffer_text(&out), out.used) == 0) {
			call_free(call);
			visit->call = NULL;
			visit_finish(visit);
			return;
		}
	}
	visit_reset(visit);
}

static void abandon(struct budget_spender *spender)
{
	visit_reset(call_of(spender)->visit);
}

const struct budget_spending call_spending = {
	.waits = waits,
	.pay = pay,
	.cut = cut,
	.abandon = abandon,
};

void call_free(struct call *call)
{
	if (!call)
		return;
	call_settle(call);
	reel_record_end(call);
	call->state = CALL_OVER;
	budget_leave(&call->engine->budget, &call->spender);
	upstream_put(call->link, false);
	if (call->spool >= 0) {
		call->engine->spooled -= call->size;
		close(call->spool);
	}
	buffer_release(&call->lines);
	buffer_release(&call->memory);
	buffer_release(&call->head);
	buffer_release(&call->answer);
	buffer_release(&call->event);
	event_loop_free_later(&call->engine->loop, call);
}
