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
	AUTO_BUFFER struct buffer out = BUFFER_INIT(16384);
	AUTO_FREE char *sentence = mem_format("ringfence: %s", text);

	shape_refuse(&out, format, reason, sentence, false);
	connection->engine->budget.refused += reason == SHAPE_BUDGET;
	model_request_free(connection->call);
	connection->call = NULL;
	connection->stage = CONNECTION_STAGE_HEAD;
	if (connection_side_send(&connection->client, buffer_text(&out), out.used) < 0)
		connection_end(connection);
	else
		connection_finish(connection);
}

static bool refuse_call(struct model_request *call, enum shape_reason reason, const char *text)
{
	model_request_refuse(call->connection, call->target.route->format, reason, text);
	return false;
}

/* --- the body */

static void finish_body(struct model_request *call);
static size_t take_body(struct model_request *call, const char *bytes, size_t size);

void model_request_begin(struct connection *connection)
{
	if (connection->input.used > 0) {
		size_t taken = take_body(connection->call, connection->input.data,
					 connection->input.used);

		if (connection->stage != CONNECTION_STAGE_CALL)
			return;
		connection_consume(connection, taken);
	}
	if (connection->stage == CONNECTION_STAGE_CALL &&
	    connection->call->state == MODEL_REQUEST_READING &&
	    (connection->call->kind == HTTP_NOTHING ||
	     (connection->call->kind == HTTP_LENGTH && connection->call->left == 0)))
		finish_body(connection->call);
}

/* Keeps a small body in our own memory and a large one in a memory file, which is counted
 * separately. */
static bool spool(struct model_request *call, const char *bytes, size_t size)
{
	struct engine *engine = call->engine;

	if (call->size + size > MODEL_REQUEST_BODY_MOST)
		return refuse_call(call, SHAPE_LARGE, "a request must not exceed 32 MiB");
	request_body_feed(&call->body, bytes, size);
	if (call->spool < 0 && call->memory.used + size <= MODEL_REQUEST_MEMORY) {
		buffer_add(&call->memory, bytes, size);
		call->size += size;
		return true;
	}
	if (engine->spooled + size + call->memory.used > MODEL_REQUEST_SPOOL_MOST)
		return refuse_call(call, SHAPE_BUSY,
				   "too many large requests at once; try again later");
	if (call->spool < 0) {
		call->spool = memfd_create("ringfence-request", MFD_CLOEXEC);
		if (call->spool < 0 ||
		    fd_write_all(call->spool, call->memory.data, call->memory.used) < 0)
			return refuse_call(call, SHAPE_BUSY, "out of memory for a large request");
		engine->spooled += call->memory.used;
		buffer_release(&call->memory);
	}
	if (fd_write_all(call->spool, bytes, size) < 0)
		return refuse_call(call, SHAPE_BUSY, "out of memory for a large request");
	engine->spooled += size;
	call->size += size;
	return true;
}

/* Consumes bytes of the body. Returns how many; the connection may have ended. */
static size_t take_body(struct model_request *call, const char *bytes, size_t size)
{
	struct connection *connection = call->connection;
	size_t at = 0;

	while (at < size && call->state == MODEL_REQUEST_READING) {
		struct http_text data = { bytes + at, 0 };
		ssize_t taken;

		if (call->kind == HTTP_CHUNKS) {
			taken = http_chunks_take(&call->chunks, bytes + at, size - at, &data);
			if (taken < 0) {
				refuse_call(call, SHAPE_REQUEST,
					    "invalid chunked encoding in the body");
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
	return connection->stage == CONNECTION_STAGE_CALL ? at : size;
}

bool model_request_wants_client(const struct connection *connection)
{
	return connection->call->state == MODEL_REQUEST_READING;
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
	struct model_request *call = connection->call;

	taken = take_body(call, engine->scratch, (size_t)n);
	if (connection->stage != CONNECTION_STAGE_CALL || taken == (size_t)n)
		return;
	if ((size_t)n - taken > connection->input.max)
		call->keep = false;
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
	refuse_call(connection->call, SHAPE_SLOW, text);
}

/* Refuses a request that a person has to allow. If it is the reason why the agent fails, the loop
 * pauses. */
static void refuse_policy(struct model_request *call, enum shape_reason reason, const char *text)
{
	if (call->target.route->billed)
		budget_report_failure(&call->engine->budget, FAILURE_REFUSED, text);
	refuse_call(call, reason, text);
}

/* Finds the request's price. Returns true if it has a known upper bound; otherwise it was
 * refused. */
static bool find_price(struct model_request *call)
{
	const struct model_config *models = &call->engine->config.models;
	const char *name = call->body.model;
	char text[480];

	call->model = price_find(&models->prices, name);
	if (call->upstream->provider->free)
		return true;
	/* A replay costs nothing. */
	if (!call->model && models->refuse_unknown && models->tape.mode != MODEL_ACCESS_REPLAY)
		snprintf(text, sizeof text,
			 "the model '%.63s' has no known price; add this line to "
			 "~/.config/ringfence/prices.txt, with US$ per million tokens: model %.*s "
			 "INPUT OUTPUT - - - (or set unknown-model: most-expensive)",
			 name, (int)(strcspn(name, "@[") < 63 ? strcspn(name, "@[") : 63), name);
	else if (call->model && call->body.fast && !call->model->fast)
		snprintf(text, sizeof text,
			 "the fast or priority mode of the model '%.63s' has no known price; add "
			 "fast=FACTOR to its line in ~/.config/ringfence/prices.txt",
			 name);
	else if (call->body.geo[0] && !price_has_geo(&models->prices, call->body.geo))
		snprintf(text, sizeof text,
			 "inference_geo: the region '%s' has no known price; add this line to "
			 "~/.config/ringfence/prices.txt: geo %s FACTOR",
			 call->body.geo, call->body.geo);
	else
		return true;
	refuse_policy(call, call->model ? SHAPE_REQUEST : SHAPE_MODEL, text);
	return false;
}

/* The body is complete. */
static void finish_body(struct model_request *call)
{
	struct engine *engine = call->engine;
	const char *wrong = call->size > 0 || call->target.route->billed
				    ? request_body_end(&call->body)
				    : NULL;

	event_loop_alarm_start(&engine->loop, &engine->idle, &call->connection->alarm);
	if (wrong && call->body.denied)
		refuse_policy(call, SHAPE_REQUEST, wrong);
	else if (wrong)
		refuse_call(call, SHAPE_REQUEST, wrong);
	if (wrong)
		return;
	if (!call->target.route->billed) {
		model_request_connect(call);
		return;
	}
	if (!find_price(call))
		return;
	call->state = MODEL_REQUEST_WAITING;
	budget_changed(&engine->budget);
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
	struct model_request *call = call_of(spender);
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
		model_request_connect(call);
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
	struct model_request *call = call_of(spender);
	struct connection *connection = call->connection;
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer last = BUFFER_INIT(4096);

	if (!call->target.route->billed || call->upstream->provider->free)
		return;
	if (call->state != MODEL_REQUEST_ANSWERED) {
		refuse_call(call, SHAPE_BUDGET, call->engine->budget.why);
		return;
	}
	call->engine->budget.refused++;
	/* A cut is not the end of a message: the client retries and is then refused. */
	if (call->frames && call->reader.stream &&
	    shape_stream_end(&last, call->target.route->format, call->engine->budget.why)) {
		http_chunk_write(buffer_text(&last), last.used, &out);
		buffer_add_text(&out, "0\r\n\r\n");
		if (connection_side_send(&connection->client, buffer_text(&out), out.used) == 0) {
			model_request_free(call);
			connection->call = NULL;
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

void model_request_free(struct model_request *call)
{
	if (!call)
		return;
	model_request_settle(call);
	reel_record_end(call);
	call->state = MODEL_REQUEST_OVER;
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
