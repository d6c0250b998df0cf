/*
 * Plain HTTP requests and their responses, one after the other: see connection.h.
 *
 * Heads are rewritten; bodies are forwarded while their end is tracked. The server connection is
 * kept for the client's next request to the same host, because connecting takes longer than
 * everything else.
 */
#include "gateway/proxy/connection.h"

#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A body in transit, and how much is left. */
struct body {
	enum http_body kind;
	uint64_t left;
	struct http_chunks chunks;
	bool done;
};

struct connection_exchange {
	struct buffer head; /* of the request, as sent; until a response begins */
	struct body request;
	bool to_head;         /* its method is HEAD */
	bool keep;            /* the client's connection is reused */
	bool again;           /* it can be repeated */
	bool reused;          /* it was sent over a reused connection */
	bool deaf;            /* the server stopped reading it */
	struct buffer answer; /* the head of the response, as far as received */
	size_t scanned;
	bool answering; /* that head was forwarded */
	struct body response;
	bool server_keep;
};

void connection_exchange_free(struct connection_exchange *exchange)
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

/* Returns how many of these bytes belong to the body, or -1 if the encoding is invalid. */
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

bool connection_exchange_reusable(const struct connection *connection,
				  const struct http_request *request,
				  const struct rule_target *target)
{
	return connection->exchange && connection->server.source.fd >= 0 &&
	       !connection->server.ended && is_get(request) &&
	       request->message.body == HTTP_NOTHING && connection->target.port == target->port &&
	       strcmp(connection->target.host, target->host) == 0;
}

int connection_exchange_begin(struct connection *connection, const struct http_request *request,
			      size_t head)
{
	size_t room = connection->input.max;
	struct connection_exchange *exchange = mem_zero(sizeof *exchange);

	connection_exchange_free(connection->exchange);
	connection->exchange = exchange;
	exchange->head = BUFFER_INIT(room + 512);
	exchange->answer = BUFFER_INIT(room);
	exchange->request = body_of(&request->message, false, true);
	exchange->to_head = request->head;
	exchange->keep = request->message.keep;
	exchange->again = is_get(request) && exchange->request.done;
	exchange->reused = connection->server.source.fd >= 0 && !connection->within;
	http_request_write(request, &connection->target, &exchange->head);
	connection_consume(connection, head);
	return buffer_overflowed(&exchange->head) ? -1 : 0;
}

/* Handles an error of the server or its connection. */
static void fail_exchange(struct connection *connection, const char *why)
{
	struct connection_exchange *exchange = connection->exchange;
	char shown[GATEWAY_TEXT];

	if (exchange->answering) {
		/* a normal close would look like the end of the response */
		connection_reset(connection);
		return;
	}
	rule_target_text(&connection->target, shown);
	connection_access_fail(connection, 502, SOCKS_FAILED, "%s: %s", shown, why);
}

/* Forwards bytes of the request's body. Returns how many, or -1 if the connection has ended. */
static ssize_t pass_request(struct connection *connection, const char *bytes, size_t size)
{
	struct connection_exchange *exchange = connection->exchange;
	ssize_t used = body_scan(&exchange->request, bytes, size);

	if (used < 0) {
		connection_drop_server(connection);
		if (exchange->answering)
			connection_reset(connection);
		else
			connection_access_fail(connection, 400, SOCKS_FAILED,
					       "bad request: invalid chunked encoding");
		return -1;
	}
	if (exchange->deaf)
		return used;
	if (!connection_count_out(connection, (size_t)used))
		return -1;
	/* It may have responded before it closed; the next read shows that. */
	if (used && connection_side_send(&connection->server, bytes, (size_t)used) < 0)
		exchange->deaf = true;
	return used;
}

void connection_exchange_send(struct connection *connection)
{
	struct connection_exchange *exchange = connection->exchange;
	struct engine *engine = connection->engine;

	connection->stage = CONNECTION_STAGE_EXCHANGE;
	event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
	if (!connection_count_out(connection, exchange->head.used))
		return;
	if (connection_side_send(&connection->server, exchange->head.data, exchange->head.used) < 0)
		exchange->deaf = true;
	if (!exchange->request.done && connection->input.used) {
		ssize_t used = pass_request(connection, connection->input.data,
					    connection->input.used);

		if (used >= 0 && connection->stage == CONNECTION_STAGE_EXCHANGE)
			connection_consume(connection, (size_t)used);
	}
}

bool connection_exchange_wants_client(const struct connection *connection)
{
	return !connection->exchange->request.done && !connection->server.kept &&
	       connection->server.source.fd >= 0;
}

void connection_exchange_from_client(struct connection *connection)
{
	struct connection_exchange *exchange = connection->exchange;
	struct engine *engine = connection->engine;
	size_t most = exchange->request.kind == HTTP_LENGTH ? (size_t)exchange->request.left
							    : connection->input.max;
	ssize_t n = connection_side_receive(&connection->client, most);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		connection_reset(connection);
		return;
	}
	event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);

	ssize_t used = pass_request(connection, engine->scratch, (size_t)n);

	/* The next request, which was waiting. */
	if (used >= 0 && connection->stage == CONNECTION_STAGE_EXCHANGE)
		buffer_add(&connection->input, engine->scratch + used, (size_t)(n - used));
}

/* Ends an exchange after a complete response. extra: the server sent more than that. */
static void end_exchange(struct connection *connection, bool extra)
{
	struct connection_exchange *exchange = connection->exchange;
	struct engine *engine = connection->engine;

	if (!exchange->server_keep || extra || !exchange->request.done || exchange->deaf ||
	    connection->server.kept) {
		if (connection->within)
			exchange->keep = false;
		connection_drop_server(connection);
	}
	if (!exchange->keep || !exchange->request.done) {
		connection_finish(connection);
		return;
	}
	buffer_release(&exchange->head);
	buffer_release(&exchange->answer);
	connection->stage = CONNECTION_STAGE_HEAD;
	connection->scanned = 0;
	event_loop_alarm_start(&engine->loop,
			       connection->input.used ? &engine->header : &engine->keep,
			       &connection->alarm);
}

static void pass_answer(struct connection *connection, const char *bytes, size_t size)
{
	struct connection_exchange *exchange = connection->exchange;
	ssize_t used = body_scan(&exchange->response, bytes, size);

	if (used < 0 || connection_side_send(&connection->client, bytes, (size_t)used) < 0) {
		connection_reset(connection);
		return;
	}
	if (exchange->response.done)
		end_exchange(connection, (size_t)used < size);
}

/* Handles the complete head of a response. Returns how many bytes follow it, or -1 if the
 * connection has ended. */
static int read_answer_head(struct connection *connection, size_t size)
{
	struct connection_exchange *exchange = connection->exchange;
	AUTO_BUFFER struct buffer head = BUFFER_INIT(exchange->answer.max + 512);
	struct http_response response;
	const char *wrong = http_response_read(exchange->answer.data, size, exchange->to_head,
					       &response);

	if (wrong) {
		fail_exchange(connection, wrong);
		return -1;
	}
	if (response.status >= 200) {
		exchange->response = body_of(&response.message, response.empty, false);
		exchange->server_keep = response.message.keep;
		exchange->keep = exchange->keep && exchange->response.kind != HTTP_UNTIL_CLOSE;
		/* A request that was cut short by its response is never completed on this
		 * connection. */
		exchange->keep = exchange->keep && exchange->request.done;
		exchange->answering = true;
	}
	http_response_write(&response, exchange->keep, &head);
	if (buffer_overflowed(&head)) {
		exchange->answering = false;
		fail_exchange(connection, "the head of its response is too long");
		return -1;
	}
	if (connection_side_send(&connection->client, head.data, head.used) < 0) {
		connection_reset(connection);
		return -1;
	}
	memmove(exchange->answer.data, exchange->answer.data + size, exchange->answer.used - size);
	exchange->answer.used -= size;
	exchange->scanned = 0;
	return 0;
}

static void read_answer(struct connection *connection)
{
	struct connection_exchange *exchange = connection->exchange;
	struct buffer *answer = &exchange->answer;

	while (!exchange->answering) {
		ssize_t size = http_head_size(answer->data, answer->used, exchange->scanned);

		exchange->scanned = answer->used;
		if (size < 0) {
			fail_exchange(
				connection,
				"its response is not valid HTTP/1 (a line does not end in CR LF)");
			return;
		}
		if (size == 0) {
			if (answer->used == answer->max)
				fail_exchange(connection, "the head of its response is too long");
			return;
		}
		if (read_answer_head(connection, (size_t)size) < 0)
			return;
	}
	if (exchange->response.done)
		end_exchange(connection, answer->used > 0);
	else
		pass_answer(connection, answer->data, answer->used);
}

/* The server closed or reset the connection. */
static void on_server_gone(struct connection *connection, bool reset)
{
	struct connection_exchange *exchange = connection->exchange;

	if (!exchange->answering && exchange->answer.used == 0 && exchange->reused &&
	    exchange->again) {
		connection_drop_server(connection);
		exchange->reused = exchange->deaf = false;
		connection_access_check(connection);
	} else if (exchange->answering && !reset && exchange->response.kind == HTTP_UNTIL_CLOSE) {
		connection_finish(connection);
	} else {
		fail_exchange(connection,
			      "it closed the connection before its response was complete");
	}
}

void connection_exchange_from_server(struct connection *connection)
{
	struct connection_exchange *exchange = connection->exchange;
	struct engine *engine = connection->engine;
	size_t most = exchange->answering ? ENGINE_SCRATCH
					  : exchange->answer.max - exchange->answer.used;
	ssize_t n = connection_side_receive(&connection->server, most);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		on_server_gone(connection, n < 0);
		return;
	}
	event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
	if (!connection_count_in(connection, (size_t)n))
		return;
	if (exchange->answering) {
		pass_answer(connection, engine->scratch, (size_t)n);
		return;
	}
	buffer_add(&exchange->answer, engine->scratch, (size_t)n);
	read_answer(connection);
}
