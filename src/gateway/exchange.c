/*
 * Requests of plain HTTP and their answers, one after the other: see engine.h.
 *
 * Heads are written anew; bodies are passed on while their end is looked for. The connection to the server is kept for
 * the next request of the same client to the same host, because making one takes longer than all the rest.
 */
#include "gateway/engine.h"

#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A body on its way, and what is left of it. */
struct body {
	enum http_body kind;
	uint64_t left;
	struct http_chunks chunks;
	bool done;
};

struct exchange {
	struct buffer head; /* of the request, as it is sent; until an answer begins */
	struct body request;
	bool to_head;         /* its method is HEAD */
	bool keep;            /* the client's connection is used again */
	bool again;           /* it can be sent once more */
	bool reused;          /* it was sent over a connection that was used before */
	bool deaf;            /* the server takes no more of it */
	struct buffer answer; /* the head of the answer, as far as it has come */
	size_t scanned;
	bool answering; /* that head is through */
	struct body response;
	bool server_keep;
};

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	buffer_release(&exchange->head);
	buffer_release(&exchange->answer);
	free(exchange);
}

static struct body body_of(const struct http_message *message, bool empty, bool strict)
{
	struct body body = { .kind = empty ? HTTP_NOTHING : message->body,
			     .left = message->length,
			     .chunks = { .strict = strict } };

	body.done = body.kind == HTTP_NOTHING || (body.kind == HTTP_LENGTH && body.left == 0);
	return body;
}

/* How many of these bytes belong to it; -1: they are not what was announced. */
static ssize_t body_scan(struct body *body, const char *bytes, size_t size)
{
	ssize_t used;

	switch (body->kind) {
	case HTTP_LENGTH:
		used = (ssize_t)(body->left < size ? body->left : size);
		body->left -= (uint64_t)used;
		body->done = body->left == 0;
		return used;
	case HTTP_CHUNKS:
		used = http_chunks_scan(&body->chunks, bytes, size);
		body->done = body->chunks.done;
		return used;
	case HTTP_UNTIL_CLOSE:
		return (ssize_t)size;
	default:
		return 0;
	}
}

static bool is_get(const struct http_request *request)
{
	return request->head ||
	       (request->method.size == 3 && memcmp(request->method.at, "GET", 3) == 0);
}

bool exchange_reusable(const struct visit *visit, const struct http_request *request,
		       const struct rule_target *target)
{
	return visit->exchange && visit->server.source.fd >= 0 && !visit->server.ended &&
	       is_get(request) && request->message.body == HTTP_NOTHING &&
	       visit->target.port == target->port && strcmp(visit->target.host, target->host) == 0;
}

int exchange_begin(struct visit *visit, const struct http_request *request, size_t head)
{
	size_t room = visit->input.max;
	struct exchange *exchange = mem_zero(sizeof *exchange);

	exchange_free(visit->exchange);
	visit->exchange = exchange;
	exchange->head = BUFFER_INIT(room + 512);
	exchange->answer = BUFFER_INIT(room);
	exchange->request = body_of(&request->message, false, true);
	exchange->to_head = request->head;
	exchange->keep = request->message.keep;
	exchange->again = is_get(request) && exchange->request.done;
	exchange->reused = visit->server.source.fd >= 0 && !visit->within;
	http_request_write(request, &visit->target, &exchange->head);
	visit_consume(visit, head);
	return buffer_overflowed(&exchange->head) ? -1 : 0;
}

/* What went wrong between us and the server. */
static void broken(struct visit *visit, const char *why)
{
	struct exchange *exchange = visit->exchange;
	char shown[GATEWAY_TEXT];

	if (exchange->answering) {
		visit_reset(visit); /* an end would look like the end of the answer */
		return;
	}
	rule_target_text(&visit->target, shown);
	judge_fail(visit, 502, SOCKS_FAILED, "%s: %s", shown, why);
}

/* Passes on what belongs to the request's body. Returns how many bytes did, or -1: the visit is over. */
static ssize_t pass_request(struct visit *visit, const char *bytes, size_t size)
{
	struct exchange *exchange = visit->exchange;
	ssize_t used = body_scan(&exchange->request, bytes, size);

	if (used < 0) {
		visit_drop_server(visit);
		if (exchange->answering)
			visit_reset(visit);
		else
			judge_fail(visit, 400, SOCKS_FAILED, "bad request: the chunks are none");
		return -1;
	}
	if (exchange->deaf)
		return used;
	if (!visit_count_out(visit, (size_t)used))
		return -1;
	/* It may have answered before it closed; that is seen when it is read. */
	if (used && side_send(&visit->server, bytes, (size_t)used) < 0)
		exchange->deaf = true;
	return used;
}

void exchange_send(struct visit *visit)
{
	struct exchange *exchange = visit->exchange;
	struct engine *engine = visit->engine;

	visit->stage = STAGE_EXCHANGE;
	event_loop_alarm_start(&engine->loop, &engine->idle, &visit->alarm);
	if (!visit_count_out(visit, exchange->head.used))
		return;
	if (side_send(&visit->server, exchange->head.data, exchange->head.used) < 0)
		exchange->deaf = true;
	if (!exchange->request.done && visit->input.used) {
		ssize_t used = pass_request(visit, visit->input.data, visit->input.used);

		if (used >= 0 && visit->stage == STAGE_EXCHANGE)
			visit_consume(visit, (size_t)used);
	}
}

bool exchange_wants_client(const struct visit *visit)
{
	return !visit->exchange->request.done && !visit->server.kept &&
	       visit->server.source.fd >= 0;
}

void exchange_from_client(struct visit *visit)
{
	struct exchange *exchange = visit->exchange;
	struct engine *engine = visit->engine;
	size_t most = exchange->request.kind == HTTP_LENGTH ? (size_t)exchange->request.left
							    : visit->input.max;
	ssize_t n = side_receive(&visit->client, most);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		visit_reset(visit);
		return;
	}
	event_loop_alarm_start(&engine->loop, &engine->idle, &visit->alarm);

	ssize_t used = pass_request(visit, engine->scratch, (size_t)n);

	/* The next request, which waits for its turn. */
	if (used >= 0 && visit->stage == STAGE_EXCHANGE)
		buffer_add(&visit->input, engine->scratch + used, (size_t)(n - used));
}

/* The answer is whole. extra: the server has said more than it. */
static void end_exchange(struct visit *visit, bool extra)
{
	struct exchange *exchange = visit->exchange;
	struct engine *engine = visit->engine;

	if (!exchange->server_keep || extra || !exchange->request.done || exchange->deaf ||
	    visit->server.kept) {
		if (visit->within)
			exchange->keep = false;
		visit_drop_server(visit);
	}
	if (!exchange->keep || !exchange->request.done) {
		visit_finish(visit);
		return;
	}
	buffer_release(&exchange->head);
	buffer_release(&exchange->answer);
	visit->stage = STAGE_HEAD;
	visit->scanned = 0;
	event_loop_alarm_start(&engine->loop, visit->input.used ? &engine->header : &engine->keep,
			       &visit->alarm);
}

static void pass_answer(struct visit *visit, const char *bytes, size_t size)
{
	struct exchange *exchange = visit->exchange;
	ssize_t used = body_scan(&exchange->response, bytes, size);

	if (used < 0 || side_send(&visit->client, bytes, (size_t)used) < 0) {
		visit_reset(visit);
		return;
	}
	if (exchange->response.done)
		end_exchange(visit, (size_t)used < size);
}

/* A head of an answer is whole. Returns how many bytes were left behind it, or -1: the visit is over. */
static int take_answer(struct visit *visit, size_t size)
{
	struct exchange *exchange = visit->exchange;
	AUTO_BUFFER struct buffer head = BUFFER_INIT(exchange->answer.max + 512);
	struct http_response response;
	const char *wrong = http_response_read(exchange->answer.data, size, exchange->to_head,
					       &response);

	if (wrong) {
		broken(visit, wrong);
		return -1;
	}
	if (response.status >= 200) {
		exchange->response = body_of(&response.message, response.empty, false);
		exchange->server_keep = response.message.keep;
		exchange->keep = exchange->keep && exchange->response.kind != HTTP_UNTIL_CLOSE;
		/* A request that is cut off by its answer is never finished on this connection. */
		exchange->keep = exchange->keep && exchange->request.done;
		exchange->answering = true;
	}
	http_response_write(&response, exchange->keep, &head);
	if (buffer_overflowed(&head)) {
		exchange->answering = false;
		broken(visit, "the head of its answer is too long");
		return -1;
	}
	if (side_send(&visit->client, head.data, head.used) < 0) {
		visit_reset(visit);
		return -1;
	}
	memmove(exchange->answer.data, exchange->answer.data + size, exchange->answer.used - size);
	exchange->answer.used -= size;
	exchange->scanned = 0;
	return 0;
}

static void read_answer(struct visit *visit)
{
	struct exchange *exchange = visit->exchange;
	struct buffer *answer = &exchange->answer;

	while (!exchange->answering) {
		ssize_t size = http_head_size(answer->data, answer->used, exchange->scanned);

		exchange->scanned = answer->used;
		if (size < 0) {
			broken(visit, "its answer is no HTTP/1 (a line does not end in CR LF)");
			return;
		}
		if (size == 0) {
			if (answer->used == answer->max)
				broken(visit, "the head of its answer is too long");
			return;
		}
		if (take_answer(visit, (size_t)size) < 0)
			return;
	}
	if (exchange->response.done)
		end_exchange(visit, answer->used > 0);
	else
		pass_answer(visit, answer->data, answer->used);
}

/* The server has closed, or broken, the connection. */
static void lost_server(struct visit *visit, bool reset)
{
	struct exchange *exchange = visit->exchange;

	if (!exchange->answering && exchange->answer.used == 0 && exchange->reused &&
	    exchange->again) {
		visit_drop_server(visit);
		exchange->reused = exchange->deaf = false;
		judge_go(visit);
	} else if (exchange->answering && !reset && exchange->response.kind == HTTP_UNTIL_CLOSE) {
		visit_finish(visit);
	} else {
		broken(visit, "it closed the connection without a whole answer");
	}
}

void exchange_from_server(struct visit *visit)
{
	struct exchange *exchange = visit->exchange;
	struct engine *engine = visit->engine;
	size_t most = exchange->answering ? ENGINE_SCRATCH
					  : exchange->answer.max - exchange->answer.used;
	ssize_t n = side_receive(&visit->server, most);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		lost_server(visit, n < 0);
		return;
	}
	event_loop_alarm_start(&engine->loop, &engine->idle, &visit->alarm);
	if (!visit_count_in(visit, (size_t)n))
		return;
	if (exchange->answering) {
		pass_answer(visit, engine->scratch, (size_t)n);
		return;
	}
	buffer_add(&exchange->answer, engine->scratch, (size_t)n);
	read_answer(visit);
}
