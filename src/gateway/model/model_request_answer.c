/* The provider's response: see model_request.h. */
#include "gateway/model/model_request.h"

#include "util/clock.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

void model_request_broken(struct model_request *call, const char *why)
{
	char text[600];

	if (call->state == MODEL_REQUEST_ANSWERED) {
		/* a normal close would look like the end of the response */
		connection_reset(call->connection);
		return;
	}
	snprintf(text, sizeof text, "%s: %s", provider_at(call->target.route->provider)->name, why);
	model_request_refuse(call->connection, call->target.route->format, SHAPE_UPSTREAM, text);
}

/* --- to the client: one read becomes one write */

enum { FLUSH_BYTES = ENGINE_SCRATCH };

static int flush(struct model_request *call)
{
	struct buffer *out = &call->engine->out;
	size_t size = out->used;

	out->used = 0;
	if (buffer_overflowed(out)) {
		out->overflow = false; /* the buffer is shared */
		return -1;
	}
	return size > 0 ? connection_side_send(&call->connection->client, out->data, size) : 0;
}

static int send_piece(struct model_request *call, const char *bytes, size_t size)
{
	struct buffer *out = &call->engine->out;

	if (call->frames)
		http_chunk_write(bytes, size, out);
	else
		buffer_add(out, bytes, size);
	return out->used > FLUSH_BYTES ? flush(call) : 0;
}

/* Handles the end of an event, whose last bytes are the first `at` of the current piece. */
static void on_event_end(void *context, size_t at, bool extra)
{
	struct model_request *call = context;

	if (!extra) {
		if (call->event.used > 0)
			(void)send_piece(call, call->event.data, call->event.used);
		(void)send_piece(call, call->piece + call->piece_at, at - call->piece_at);
	}
	call->event.used = 0;
	call->piece_at = at;
}

/* Holds back the event that has begun: it may be the one to be removed. */
static void hold_rest(struct model_request *call, size_t size)
{
	size_t rest = size - call->piece_at;

	if (call->event.used + rest > MODEL_REQUEST_EVENT_MOST) { /* too large to be that event */
		(void)send_piece(call, call->event.data, call->event.used);
		(void)send_piece(call, call->piece + call->piece_at, rest);
		call->event.used = 0;
		return;
	}
	buffer_add(&call->event, call->piece + call->piece_at, rest);
}

/* Meters and forwards bytes. Returns 0, or -1 if the client is on_provider_gone. */
static int pass(struct model_request *call, const char *bytes, size_t size)
{
	AUTO_BUFFER struct buffer scratch = BUFFER_INIT(ENGINE_SCRATCH + MASK_LONGEST);

	size = mask_feed(&call->mask, bytes, size, &scratch, &bytes);
	reel_record_bytes(call, bytes, size);
	call->piece = bytes;
	call->piece_at = 0;
	if (call->metered)
		usage_feed(&call->reader, bytes, size);
	if (!call->strip)
		return send_piece(call, bytes, size);
	hold_rest(call, size);
	return 0;
}

/* --- the end */

static void continue_reading(struct model_request *call)
{
	struct connection *connection = call->connection;
	struct engine *engine = call->engine;
	bool keep = call->keep;

	upstream_put(call->link, call->server_keep && call->sent);
	call->link = NULL;
	model_request_settle(call);
	model_request_free(call);
	connection->call = NULL;
	if (!keep) {
		connection_finish(connection);
		return;
	}
	connection->stage = CONNECTION_STAGE_HEAD;
	connection->scanned = 0;
	event_loop_alarm_start(&engine->loop,
			       connection->input.used ? &engine->header : &engine->keep,
			       &connection->alarm);
}

static void end_answer(struct model_request *call)
{
	struct connection *connection = call->connection;
	const char *bytes;
	size_t size = mask_end(&call->mask, &bytes);
	int result = 0;

	reel_record_bytes(call, bytes, size);
	reel_record_whole(call);
	if (size > 0)
		result = call->strip ? (buffer_add(&call->event, bytes, size), 0)
				     : send_piece(call, bytes, size);
	if (call->event.used > 0)
		result = send_piece(call, call->event.data, call->event.used);
	if (result == 0 && call->frames)
		buffer_add_text(&call->engine->out, "0\r\n\r\n");
	if (result < 0 || flush(call) < 0)
		connection_reset(connection);
	else
		continue_reading(call);
}

/* --- the head */

static bool is_stream(struct http_text type)
{
	static const char events[] = "text/event-stream";

	return type.size >= sizeof events - 1 &&
	       http_text_is((struct http_text){ type.at, sizeof events - 1 }, events);
}

/* Returns true if a header is meant for the client, not for us. */
static bool for_client(struct http_text name)
{
	return !http_text_is(name, "set-cookie") && !http_text_is(name, "alt-svc");
}

static void write_head(struct model_request *call, const struct http_response *response,
		       struct buffer *out)
{
	struct http_text lines = response->message.lines;
	struct http_text name;
	struct http_text value;

	buffer_printf(out, "HTTP/1.1 %03u", response->status);
	buffer_add(out, response->reason.at, response->reason.size);
	buffer_add_text(out, "\r\n");
	while (http_line_next(&lines, &name, &value)) {
		if (http_line_dropped(name, &response->message) || !for_client(name))
			continue;
		buffer_add(out, name.at, name.size);
		buffer_add_text(out, ": ");
		buffer_add(out, value.at, value.size);
		buffer_add_text(out, "\r\n");
	}
	if (call->frames)
		buffer_add_text(out, "Transfer-Encoding: chunked\r\n");
	else if (!response->empty)
		buffer_printf(out, "Content-Length: %llu\r\n",
			      (unsigned long long)call->answer_left);
	buffer_printf(out, "Connection: %s\r\n\r\n", call->keep ? "keep-alive" : "close");
}

/* Reads the headers that describe the body. Returns an error message, or NULL. */
static const char *read_lines(struct model_request *call, const struct http_response *response,
			      bool *ret_stream)
{
	struct http_text lines = response->message.lines;
	struct http_text name;
	struct http_text value;
	int64_t now = clock_wall_ms();

	*ret_stream = false;
	while (http_line_next(&lines, &name, &value)) {
		call->opaque |= http_text_is(name, "content-encoding") &&
				!http_text_is(value, "identity");
		if (call->opaque)
			return "its response is compressed although that was not requested, and "
			       "cannot be metered";
		if (http_text_is(name, "content-type"))
			*ret_stream = is_stream(value);
		shape_limit_line(&call->limit, name.at, name.size, value.at, value.size, now);
	}
	return NULL;
}

/* Handles a complete head. Returns 0, or -1 if the request has ended. */
static int handle_head(struct model_request *call, size_t size)
{
	AUTO_BUFFER struct buffer head = BUFFER_INIT(call->answer.max + 512);
	AUTO_BUFFER struct buffer scratch = BUFFER_INIT(call->answer.max + 1024);
	struct http_response response;
	struct mask mask = call->mask;
	const char *bytes;
	bool stream = false;
	const char *wrong = http_response_read(call->answer.data, size, false, &response);

	if (!wrong && response.status < 200)
		return 0; /* an interim response, which is not forwarded */
	if (!wrong)
		wrong = read_lines(call, &response, &stream);
	if (!wrong && response.status >= 300 && response.status < 400)
		wrong = "it redirects the request, which is not supported";
	call->status = wrong ? 0 : response.status;
	if (wrong) {
		model_request_broken(call, wrong);
		return -1;
	}
	reel_record_head(call, &response);
	call->first_ms = call->engine->loop.now_ms;
	call->answer_kind = response.empty ? HTTP_NOTHING : response.message.body;
	call->answer_left = response.message.length;
	call->answer_done = call->answer_kind == HTTP_NOTHING ||
			    (call->answer_kind == HTTP_LENGTH && call->answer_left == 0);
	call->server_keep = response.message.keep && call->answer_kind != HTTP_UNTIL_CLOSE;
	call->metered = call->target.route->billed || response.status >= 400;
	usage_init(&call->reader, call->target.route->format, stream && response.status < 300);
	call->strip = call->reader.stream && call->target.route->format == USAGE_CHAT &&
		      !call->body.asks_usage;
	if (call->strip) {
		call->reader.event = on_event_end;
		call->reader.context = call;
	}
	call->frames = !call->answer_done && (call->answer_kind != HTTP_LENGTH || call->strip);
	/* A request that was cut short by its response is never completed on this connection. */
	call->keep = call->keep && call->sent;
	call->state = MODEL_REQUEST_ANSWERED;
	write_head(call, &response, &head);
	if (buffer_overflowed(&head)) {
		connection_reset(call->connection);
		return -1;
	}
	size = mask_feed(&mask, head.data, head.used, &scratch, &bytes);
	buffer_add(&call->engine->out, bytes, size);
	return 0;
}

/* --- the body */

/* Handles bytes of the body. Returns 0, or -1 if the request has ended. */
static int handle_body(struct model_request *call, const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && !call->answer_done) {
		struct http_text data = { bytes + at, size - at };
		ssize_t taken = (ssize_t)data.size;

		if (call->answer_kind == HTTP_CHUNKS) {
			taken = http_chunks_take(&call->answer_chunks, bytes + at, size - at,
						 &data);
			call->answer_done = call->answer_chunks.done;
		} else if (call->answer_kind == HTTP_LENGTH) {
			data.size = call->answer_left < data.size ? (size_t)call->answer_left
								  : data.size;
			taken = (ssize_t)data.size;
			call->answer_left -= data.size;
			call->answer_done = call->answer_left == 0;
		}
		if (taken < 0 || (data.size > 0 && pass(call, data.at, data.size) < 0)) {
			connection_reset(call->connection);
			return -1;
		}
		at += (size_t)taken;
	}
	call->server_keep = call->server_keep && at == size;
	return 0;
}

/* Handles bytes of the head, which may be followed by the body. Returns 0, or -1 if the request
 * has ended. */
static int handle_first(struct model_request *call, const char *bytes, size_t size)
{
	struct buffer *answer = &call->answer;

	buffer_add(answer, bytes, size);
	if (buffer_overflowed(answer)) {
		model_request_broken(call, "the head of its response is too long");
		return -1;
	}
	while (call->state != MODEL_REQUEST_ANSWERED) {
		ssize_t head = http_head_size(answer->data, answer->used, call->scanned);

		call->scanned = answer->used;
		if (head < 0) {
			model_request_broken(call, "its response is not valid HTTP/1");
			return -1;
		}
		if (head == 0)
			return 0;
		if (handle_head(call, (size_t)head) < 0)
			return -1;
		memmove(answer->data, answer->data + head, answer->used - (size_t)head);
		answer->used -= (size_t)head;
		call->scanned = 0;
	}

	int result = handle_body(call, answer->data, answer->used);

	if (result == 0)
		buffer_release(answer);
	return result;
}

/* The provider closed the connection. */
static void on_provider_gone(struct model_request *call, const char *why)
{
	char target[GATEWAY_TEXT];

	rule_target_text(&call->upstream->provider->place.target, target);
	if (call->state != MODEL_REQUEST_ANSWERED)
		snprintf(call->unreached, sizeof call->unreached, "%.140s did not respond: %.140s",
			 target, why);
	model_request_broken(call, why);
}

static void lost(struct model_request *call, ssize_t n)
{
	/* Forward what arrived before that. */
	if (call->state == MODEL_REQUEST_ANSWERED && call->answer_kind != HTTP_UNTIL_CLOSE &&
	    flush(call) < 0) {
		connection_reset(call->connection);
		return;
	}
	if (n == 0 && call->state == MODEL_REQUEST_ANSWERED &&
	    call->answer_kind == HTTP_UNTIL_CLOSE)
		end_answer(call);
	else
		on_provider_gone(
			call, n == 0 ? "it closed the connection before its response was complete"
				     : upstream_wrong(call->link));
}

void model_request_read_answer(struct model_request *call)
{
	enum { ROUNDS = 8 }; /* then other connections get a turn */
	struct engine *engine = call->engine;
	struct connection *connection = call->connection;

	engine->out.used = 0;
	for (int i = 0; (i < ROUNDS || upstream_has_more(call->link)) && !connection->client.kept;
	     i++) {
		size_t most = call->state == MODEL_REQUEST_ANSWERED
				      ? ENGINE_SCRATCH
				      : call->answer.max - call->answer.used;
		ssize_t n = upstream_read(call->link, engine->scratch, most);

		if (n == TLS_AGAIN)
			break;
		if (n <= 0) {
			lost(call, n);
			return;
		}
		event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
		if ((call->state == MODEL_REQUEST_ANSWERED
			     ? handle_body(call, engine->scratch, (size_t)n)
			     : handle_first(call, engine->scratch, (size_t)n)) < 0)
			return;
		if (call->state == MODEL_REQUEST_ANSWERED && call->answer_done) {
			end_answer(call);
			return;
		}
		if ((size_t)n < most && !upstream_has_more(call->link))
			break; /* another read would only return EAGAIN */
	}
	if (flush(call) < 0) {
		connection_reset(connection);
		return;
	}
	model_request_true_up(call);
	if (connection->stage == CONNECTION_STAGE_CALL &&
	    connection->call == call) /* otherwise it was cut for exceeding its budget */
		model_request_update(connection);
}
