/* A request to a model: its body and its budget. See model_request.h. */
#include "gateway/model/model_request.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- refusals */

void model_request_refuse(struct connection *connection, enum usage_format format,
			  enum shape_reason reason, const char *text)
{
	const struct model_request *request = connection->request;
	AUTO_BUFFER struct buffer out = BUFFER_INIT(16384);
	AUTO_FREE char *sentence = mem_format("ringfence: %s", text);

	shape_refuse(&out, format, reason, sentence,
		     request && request->body.field[0] ? request->body.field : NULL, false);
	connection->engine->budget.refused += reason == SHAPE_BUDGET;
	model_request_free(connection->request);
	connection->request = NULL;
	connection->stage = CONNECTION_STAGE_HEAD;
	if (connection_side_send(&connection->client, buffer_text(&out), out.used) < 0)
		connection_end(connection);
	else
		connection_finish(connection);
}

static bool refuse_request(struct model_request *request, enum shape_reason reason,
			   const char *text)
{
	model_request_refuse(request->connection, request->target.route->format, reason, text);
	return false;
}

/* --- the body */

static void finish_body(struct model_request *request);
static size_t take_body(struct model_request *request, const char *bytes, size_t size);

void model_request_begin(struct connection *connection)
{
	if (connection->input.used > 0) {
		size_t taken = take_body(connection->request, connection->input.data,
					 connection->input.used);

		if (connection->stage != CONNECTION_STAGE_MODEL)
			return;
		connection_consume(connection, taken);
	}
	if (connection->stage == CONNECTION_STAGE_MODEL &&
	    connection->request->state == MODEL_REQUEST_READING &&
	    (connection->request->kind == HTTP_NOTHING ||
	     (connection->request->kind == HTTP_LENGTH && connection->request->left == 0)))
		finish_body(connection->request);
}

/* Keeps a small body in our own memory and a large one in a memory file, which is counted
 * separately. */
static bool spool(struct model_request *request, const char *bytes, size_t size)
{
	struct engine *engine = request->engine;

	if (request->size + size > MODEL_REQUEST_BODY_MOST)
		return refuse_request(request, SHAPE_LARGE, "a request must not exceed 32 MiB");
	request_body_feed(&request->body, bytes, size);
	request->hash = runaway_hash(request->hash, bytes, size);
	if (request->spool < 0 && request->memory.used + size <= MODEL_REQUEST_MEMORY) {
		buffer_add(&request->memory, bytes, size);
		request->size += size;
		return true;
	}
	if (engine->spooled + size + request->memory.used > MODEL_REQUEST_SPOOL_MOST)
		return refuse_request(request, SHAPE_BUSY,
				      "too many large requests at once; try again later");
	if (request->spool < 0) {
		request->spool = memfd_create("ringfence-request", MFD_CLOEXEC);
		if (request->spool < 0 ||
		    fd_write_all(request->spool, request->memory.data, request->memory.used) < 0)
			return refuse_request(request, SHAPE_BUSY,
					      "out of memory for a large request");
		engine->spooled += request->memory.used;
		buffer_release(&request->memory);
	}
	if (fd_write_all(request->spool, bytes, size) < 0)
		return refuse_request(request, SHAPE_BUSY, "out of memory for a large request");
	engine->spooled += size;
	request->size += size;
	return true;
}

/* Consumes bytes of the body. Returns how many; the connection may have ended. */
static size_t take_body(struct model_request *request, const char *bytes, size_t size)
{
	struct connection *connection = request->connection;
	size_t at = 0;

	while (at < size && request->state == MODEL_REQUEST_READING) {
		struct http_text data = { bytes + at, 0 };
		ssize_t taken;

		if (request->kind == HTTP_CHUNKS) {
			taken = http_chunks_take(&request->chunks, bytes + at, size - at, &data);
			if (taken < 0) {
				refuse_request(request, SHAPE_REQUEST,
					       "invalid chunked encoding in the body");
				return size;
			}
		} else {
			data.size = request->left < size - at ? (size_t)request->left : size - at;
			taken = (ssize_t)data.size;
			request->left -= data.size;
		}
		at += (size_t)taken;
		if (data.size > 0 && !spool(request, data.at, data.size))
			return size;
		if (request->kind == HTTP_CHUNKS ? request->chunks.done : request->left == 0) {
			finish_body(request);
			break;
		}
	}
	return connection->stage == CONNECTION_STAGE_MODEL ? at : size;
}

bool model_request_wants_client(const struct connection *connection)
{
	return connection->request->state == MODEL_REQUEST_READING;
}

void model_request_from_client(struct connection *connection)
{
	struct engine *engine = connection->engine;
	ssize_t n = connection_side_receive(&connection->client, ENGINE_SCRATCH);
	size_t taken;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		connection_end(connection);
		return;
	}

	/* Bytes after the body are the next request. It waits for its turn, if there is room for
	 * it. */
	struct model_request *request = connection->request;

	taken = take_body(request, engine->scratch, (size_t)n);
	if (connection->stage != CONNECTION_STAGE_MODEL || taken == (size_t)n)
		return;
	if ((size_t)n - taken > connection->input.max)
		request->keep = false;
	else
		buffer_add(&connection->input, engine->scratch + taken, (size_t)n - taken);
}

/* The time limit covers the whole body: otherwise single bytes could hold a connection for ever. */
void model_request_too_slow(struct connection *connection)
{
	char text[128];

	snprintf(text, sizeof text,
		 "the body of the request was not complete within %u milliseconds",
		 (unsigned int)connection->engine->config.caps.body_ms);
	refuse_request(connection->request, SHAPE_SLOW, text);
}

/* Refuses a request that a person has to allow. If it is the reason why the agent fails, the loop
 * pauses. */
static void refuse_policy(struct model_request *request, enum shape_reason reason, const char *text)
{
	if (request->target.route->billed)
		budget_report_failure(&request->engine->budget, FAILURE_REFUSED, text);
	refuse_request(request, reason, text);
}

/* Finds the request's price. Returns true if it has a known upper bound; otherwise it was
 * refused. */
static bool find_price(struct model_request *request)
{
	const struct model_config *models = &request->engine->config.models;
	const char *name = request->body.model;
	char text[480];

	request->model = price_find(&models->prices, name);
	if (request->upstream->provider->free)
		return true;
	/* A replay costs nothing. */
	if (!request->model && models->refuse_unknown && models->tape.mode != MODEL_ACCESS_REPLAY)
		snprintf(text, sizeof text,
			 "the model '%.63s' has no known price; add this line to "
			 "~/.config/ringfence/prices.txt, with US$ per million tokens: model %.*s "
			 "INPUT OUTPUT - - - (or set unknown-model: most-expensive)",
			 name, (int)(strcspn(name, "@[") < 63 ? strcspn(name, "@[") : 63), name);
	else if (request->model && request->body.fast && !request->model->fast)
		snprintf(text, sizeof text,
			 "the fast or priority mode of the model '%.63s' has no known price; add "
			 "fast=FACTOR to its line in ~/.config/ringfence/prices.txt",
			 name);
	else if (request->body.geo[0] && !price_has_geo(&models->prices, request->body.geo))
		snprintf(text, sizeof text,
			 "inference_geo: the region '%s' has no known price; add this line to "
			 "~/.config/ringfence/prices.txt: geo %s FACTOR",
			 request->body.geo, request->body.geo);
	else
		return true;
	refuse_policy(request, request->model ? SHAPE_REQUEST : SHAPE_MODEL, text);
	return false;
}

static void wait_for_money(struct model_request *request)
{
	request->state = MODEL_REQUEST_WAITING;
	budget_changed(&request->engine->budget);
}

static void refuse_runaway(struct model_request *request)
{
	struct engine *engine = request->engine;
	char text[LEDGER_ERROR];
	enum failure failure = runaway_explain(&engine->runaway, request->hash, text);

	budget_report_failure(&engine->budget, failure, text);
	refuse_request(request, SHAPE_RUNAWAY, text);
}

static void end_hold(struct event_loop_alarm *alarm)
{
	struct model_request *request = EVENT_LOOP_OWNER(alarm, struct model_request, hold);
	struct connection *connection = request->connection;
	struct engine *engine = request->engine;

	/* Others may have failed in the meantime. */
	if (runaway_judge(&engine->runaway, request->hash, engine->loop.now_ms) == RUNAWAY_REFUSE)
		refuse_runaway(request);
	else
		wait_for_money(request);
	if (connection->stage != CONNECTION_STAGE_OVER)
		connection_advance(connection);
}

static void hold(struct model_request *request)
{
	struct engine *engine = request->engine;

	request->state = MODEL_REQUEST_HELD;
	request->hold.ring = end_hold;
	event_loop_alarm_start(&engine->loop, &engine->runaway_hold, &request->hold);
}

/* Holds or refuses a request if earlier ones failed. A replay has no server to spare. */
static void begin_request(struct model_request *request)
{
	struct engine *engine = request->engine;
	enum runaway_verdict verdict = runaway_judge(&engine->runaway, request->hash,
						     engine->loop.now_ms);

	if (verdict == RUNAWAY_REFUSE)
		refuse_runaway(request);
	else if (verdict == RUNAWAY_HOLD && !engine->reels.replay)
		hold(request);
	else
		wait_for_money(request);
}

/* The body is complete. */
static void finish_body(struct model_request *request)
{
	struct engine *engine = request->engine;
	const char *wrong = request->size > 0 || request->target.route->billed
				    ? request_body_end(&request->body)
				    : NULL;

	event_loop_alarm_start(&engine->loop, &engine->idle, &request->connection->alarm);
	if (wrong && request->body.denied)
		refuse_policy(request, SHAPE_REQUEST, wrong);
	else if (wrong)
		refuse_request(request, SHAPE_REQUEST, wrong);
	if (wrong)
		return;
	if (!request->target.route->billed) {
		model_request_connect(request);
		return;
	}
	if (find_price(request))
		begin_request(request);
}

/* --- money */

static struct model_request *call_of(struct budget_spender *spender)
{
	return EVENT_LOOP_OWNER(spender, struct model_request, spender);
}

static bool waits(const struct budget_spender *spender)
{
	return EVENT_LOOP_OWNER(spender, const struct model_request, spender)->state ==
	       MODEL_REQUEST_WAITING;
}

static bool pay(struct budget_spender *spender)
{
	struct model_request *request = call_of(spender);
	struct engine *engine = request->engine;
	struct budget *budget = &engine->budget;
	uint64_t elsewhere = request_body_elsewhere(&request->body);
	uint64_t guess = budget_guess(budget, request->model, request->size);
	const struct money_want want = {
		.table = &engine->config.models.prices,
		.model = request->model,
		.free = request->upstream->provider->free,
		.fast = request->body.fast,
		.input = request->size + elsewhere,
		.likely = guess ? guess + elsewhere : 0,
		.output = request->body.most,
		.answers = request->body.answers,
		.floor = request_body_floor(&request->body),
	};
	uint64_t output = 0;
	uint64_t nusd = 0;

	switch (money_reserve(&budget->money, &want, &request->reserved, &output, &nusd)) {
	case MONEY_GO:
		request->priced = true;
		model_request_open(request);
		budget->usual = request->reserved;
		budget->why[0] = '\0';
		if (output < request->body.most)
			request_body_limit(&request->body, output);
		request_body_ask_usage(&request->body);
		model_request_connect(request);
		return true;
	case MONEY_ASK:
		budget_ask(&engine->budget, nusd, false);
		return false;
	case MONEY_WAIT:
		return false;
	default:
		/* Ask the owner, which names the limit or has more money by now. */
		if (!budget->why[0] && !budget->money.latched) {
			budget_ask(&engine->budget, nusd, false);
			return false;
		}
		budget_latch(&engine->budget); /* also refuses this one */
		return true;
	}
}

static void cut(struct budget_spender *spender)
{
	struct model_request *request = call_of(spender);
	struct connection *connection = request->connection;
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer last = BUFFER_INIT(4096);

	if (!request->target.route->billed || request->upstream->provider->free)
		return;
	if (request->state != MODEL_REQUEST_ANSWERED) {
		refuse_request(request, SHAPE_BUDGET, request->engine->budget.why);
		return;
	}
	request->engine->budget.refused++;
	/* A cut is not the end of a message: the client retries and is then refused. */
	if (request->frames && request->reader.stream &&
	    shape_stream_end(&last, request->target.route->format, request->engine->budget.why)) {
		http_chunk_write(buffer_text(&last), last.used, &out);
		buffer_add_text(&out, "0\r\n\r\n");
		if (connection_side_send(&connection->client, buffer_text(&out), out.used) == 0) {
			model_request_free(request);
			connection->request = NULL;
			connection_finish(connection);
			return;
		}
	}
	connection_reset(connection);
}

static void abandon(struct budget_spender *spender)
{
	connection_reset(call_of(spender)->connection);
}

const struct budget_spending model_request_spending = {
	.waits = waits,
	.pay = pay,
	.cut = cut,
	.abandon = abandon,
};

void model_request_free(struct model_request *request)
{
	if (!request)
		return;
	model_request_settle(request);
	reel_record_end(request);
	request->state = MODEL_REQUEST_OVER;
	event_loop_alarm_stop(&request->hold);
	budget_leave(&request->engine->budget, &request->spender);
	upstream_put(request->link, false);
	if (request->spool >= 0) {
		request->engine->spooled -= request->size;
		close(request->spool);
	}
	buffer_release(&request->lines);
	buffer_release(&request->memory);
	buffer_release(&request->head);
	buffer_release(&request->answer);
	buffer_release(&request->event);
	buffer_release(&request->held);
	event_loop_free_later(&request->engine->loop, request);
}
