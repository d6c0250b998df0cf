/* The provider's response: see model_request.h. */
#include "gateway/model/model_request.h"

#include "util/clock.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

/* Returns true if nothing has come that only a model, or an API in its error, sends. */
static bool lacks_answer(const struct model_request *request)
{
	if (request->state != MODEL_REQUEST_ANSWERED)
		return true;
	return request->priced && request->status < 300 && !request->reader.usage.error[0] &&
	       !usage_began(&request->reader);
}

/* Returns true if an answer has begun, and its rest is missing. */
static bool lacks_rest(const struct model_request *request)
{
	return request->state == MODEL_REQUEST_ANSWERED && request->priced &&
	       request->status < 300 && !usage_whole(&request->reader);
}

/* Judges a response that has ended: records why there is no answer by a model, or not a whole one.
 * The words for the latter are the same in a recording and its replay. */
static void judge(struct model_request *request, const char *why)
{
	char target[GATEWAY_TEXT];

	if (request->unreached[0])
		return;
	rule_target_text(&request->upstream->provider->place.target, target);
	if (lacks_answer(request))
		snprintf(request->unreached, sizeof request->unreached,
			 "%.140s did not respond: %.140s", target, why);
	else if (lacks_rest(request))
		snprintf(request->unreached, sizeof request->unreached,
			 "%s did not finish its answer",
			 provider_at(request->target.route->provider)->name);
}

void model_request_broken(struct model_request *request, const char *why)
{
	char text[600];

	judge(request, why);
	if (request->state == MODEL_REQUEST_ANSWERED) {
		/* a normal close would look like the end of the response */
		connection_reset(request->connection);
		return;
	}
	snprintf(text, sizeof text, "%s: %s", provider_at(request->target.route->provider)->name,
		 why);
	model_request_refuse(request->connection, request->target.route->format, SHAPE_UPSTREAM,
			     text);
}

/* --- to the client: one read becomes one write */

enum { FLUSH_BYTES = ENGINE_SCRATCH };

/* Adds bytes to an error that is held back until its body is complete: a client that leaves after
 * the head would end the request before its cause is known. Returns false if there is no room. */
static bool hold(struct model_request *request, const char *bytes, size_t size)
{
	request->holding = request->holding && request->held.used + size <= request->held.max;
	if (request->holding)
		buffer_add(&request->held, bytes, size);
	return request->holding;
}

static int send_held(struct model_request *request)
{
	size_t size = request->held.used;

	request->held.used = 0;
	return size > 0 ? connection_side_send(&request->connection->client, request->held.data,
					       size)
			: 0;
}

static int flush(struct model_request *request)
{
	struct buffer *out = &request->engine->out;
	size_t size = out->used;

	out->used = 0;
	if (buffer_overflowed(out)) {
		out->overflow = false; /* the buffer is shared */
		return -1;
	}
	if (size > 0 && hold(request, out->data, size))
		return 0;
	model_request_note(request); /* before the client has it: then this process may be killed */
	if (!request->holding && send_held(request) < 0)
		return -1;
	return size > 0 ? connection_side_send(&request->connection->client, out->data, size) : 0;
}

/* Keeps the last piece until end_answer() or the end of the read, see there. */
static int send_piece(struct model_request *request, const char *bytes, size_t size)
{
	struct buffer *out = &request->engine->out;

	if (out->used > FLUSH_BYTES && flush(request) < 0)
		return -1;
	if (request->frames)
		http_chunk_write(bytes, size, out);
	else
		buffer_add(out, bytes, size);
	return 0;
}

/* Handles the end of an event, whose last bytes are the first `at` of the current piece. */
static void on_event_end(void *context, size_t at, bool extra)
{
	struct model_request *request = context;

	if (!extra) {
		if (request->event.used > 0)
			(void)send_piece(request, request->event.data, request->event.used);
		(void)send_piece(request, request->piece + request->piece_at,
				 at - request->piece_at);
	}
	request->event.used = 0;
	request->piece_at = at;
}

/* Holds back the event that has begun: it may be the one to be removed. */
static void hold_rest(struct model_request *request, size_t size)
{
	size_t rest = size - request->piece_at;

	if (request->event.used + rest >
	    MODEL_REQUEST_EVENT_MOST) { /* too large to be that event */
		(void)send_piece(request, request->event.data, request->event.used);
		(void)send_piece(request, request->piece + request->piece_at, rest);
		request->event.used = 0;
		return;
	}
	buffer_add(&request->event, request->piece + request->piece_at, rest);
}

/* Meters and forwards bytes. Returns 0, or -1 if the client is gone. */
static int pass(struct model_request *request, const char *bytes, size_t size)
{
	AUTO_BUFFER struct buffer scratch = BUFFER_INIT(ENGINE_SCRATCH + MASK_LONGEST);

	size = mask_feed(&request->mask, bytes, size, &scratch, &bytes);
	reel_record_bytes(request, bytes, size);
	request->piece = bytes;
	request->piece_at = 0;
	if (request->metered)
		usage_feed(&request->reader, bytes, size);
	if (!request->strip)
		return send_piece(request, bytes, size);
	hold_rest(request, size);
	return 0;
}

/* --- the end */

static void continue_reading(struct model_request *request)
{
	struct connection *connection = request->connection;
	struct engine *engine = request->engine;
	bool keep = request->keep;

	upstream_put(request->link, request->server_keep && request->sent);
	request->link = NULL;
	model_request_settle(request);
	model_request_free(request);
	connection->request = NULL;
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

static void end_answer(struct model_request *request)
{
	struct connection *connection = request->connection;
	const char *bytes;
	size_t size = mask_end(&request->mask, &bytes);
	int result = 0;

	request->holding = false;
	reel_record_bytes(request, bytes, size);
	reel_record_whole(request);
	if (!request->foreign)
		judge(request, "its answer is not a model's");
	if (size > 0)
		result = request->strip ? (buffer_add(&request->event, bytes, size), 0)
					: send_piece(request, bytes, size);
	if (request->event.used > 0)
		result = send_piece(request, request->event.data, request->event.used);
	if (result == 0 && request->frames)
		buffer_add_text(&request->engine->out, "0\r\n\r\n");
	reel_record_end(request); /* a client that has its whole answer finds it on the tape */
	if (result < 0 || flush(request) < 0)
		connection_reset(connection);
	else
		continue_reading(request);
}

/* --- the head */

static bool begins_with(struct http_text type, const char *word)
{
	size_t size = strlen(word);

	return type.size >= size && http_text_is((struct http_text){ type.at, size }, word);
}

/* Returns true if a header is meant for the client, not for us. */
static bool for_client(struct http_text name)
{
	return !http_text_is(name, "set-cookie") && !http_text_is(name, "alt-svc");
}

static void write_head(struct model_request *request, const struct http_response *response,
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
	if (request->frames)
		buffer_add_text(out, "Transfer-Encoding: chunked\r\n");
	else if (!response->empty)
		buffer_printf(out, "Content-Length: %llu\r\n",
			      (unsigned long long)request->answer_left);
	buffer_printf(out, "Connection: %s\r\n\r\n", request->keep ? "keep-alive" : "close");
}

/* Reads the headers that describe the body. Returns an error message, or NULL. */
static const char *read_lines(struct model_request *request, const struct http_response *response,
			      bool *ret_stream)
{
	struct http_text lines = response->message.lines;
	struct http_text name;
	struct http_text value;
	int64_t now = clock_wall_ms();

	*ret_stream = false;
	while (http_line_next(&lines, &name, &value)) {
		if (http_text_is(name, "content-encoding") && !http_text_is(value, "identity")) {
			request->opaque = response->status < 300;
			return "its response is compressed although that was not requested, and "
			       "cannot be metered";
		}
		if (http_text_is(name, "content-type")) {
			*ret_stream = begins_with(value, "text/event-stream");
			request->foreign = !begins_with(value, "text/") &&
					   !begins_with(value, "application/json");
		}
		shape_limit_line(&request->limit, name.at, name.size, value.at, value.size, now);
	}
	return NULL;
}

/* Handles a complete head. Returns 0, or -1 if the request has ended. */
static int handle_head(struct model_request *request, size_t size)
{
	AUTO_BUFFER struct buffer head = BUFFER_INIT(request->answer.max + 512);
	AUTO_BUFFER struct buffer scratch = BUFFER_INIT(request->answer.max + 1024);
	struct http_response response;
	struct mask mask = request->mask;
	const char *bytes;
	bool stream = false;
	const char *wrong = http_response_read(request->answer.data, size, false, &response);

	if (!wrong && response.status < 200)
		return 0; /* an interim response, which is not forwarded */
	if (!wrong)
		wrong = read_lines(request, &response, &stream);
	if (!wrong && response.status >= 300 && response.status < 400)
		wrong = "it redirects the request, which is not supported";
	request->status = wrong ? 0 : response.status;
	if (wrong) {
		model_request_broken(request, wrong);
		return -1;
	}
	reel_record_head(request, &response);
	request->first_ms = request->engine->loop.now_ms;
	request->answer_kind = response.empty ? HTTP_NOTHING : response.message.body;
	request->answer_left = response.message.length;
	request->answer_done = request->answer_kind == HTTP_NOTHING ||
			       (request->answer_kind == HTTP_LENGTH && request->answer_left == 0);
	request->server_keep = response.message.keep && request->answer_kind != HTTP_UNTIL_CLOSE;
	request->metered = request->target.route->billed || response.status >= 400;
	usage_init(&request->reader, request->target.route->format,
		   stream && response.status < 300);
	request->strip = request->reader.stream && request->target.route->format == USAGE_CHAT &&
			 !request->body.asks_usage;
	if (request->strip) {
		request->reader.event = on_event_end;
		request->reader.context = request;
	}
	request->frames = !request->answer_done &&
			  (request->answer_kind != HTTP_LENGTH || request->strip);
	/* A request that was cut short by its response is never completed on this connection. */
	request->keep = request->keep && request->sent;
	request->state = MODEL_REQUEST_ANSWERED;
	request->holding = response.status >= 400;
	write_head(request, &response, &head);
	if (buffer_overflowed(&head)) {
		connection_reset(request->connection);
		return -1;
	}
	size = mask_feed(&mask, head.data, head.used, &scratch, &bytes);
	buffer_add(&request->engine->out, bytes, size);
	return 0;
}

/* --- the body */

/* Handles bytes of the body. Returns 0, or -1 if the request has ended. */
static int handle_body(struct model_request *request, const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && !request->answer_done) {
		struct http_text data = { bytes + at, size - at };
		ssize_t taken = (ssize_t)data.size;

		if (request->answer_kind == HTTP_CHUNKS) {
			taken = http_chunks_take(&request->answer_chunks, bytes + at, size - at,
						 &data);
			request->answer_done = request->answer_chunks.done;
		} else if (request->answer_kind == HTTP_LENGTH) {
			data.size = request->answer_left < data.size ? (size_t)request->answer_left
								     : data.size;
			taken = (ssize_t)data.size;
			request->answer_left -= data.size;
			request->answer_done = request->answer_left == 0;
		}
		if (taken < 0) {
			model_request_broken(request, "invalid chunked encoding in its response");
			return -1;
		}
		if (data.size > 0 && pass(request, data.at, data.size) < 0) {
			connection_reset(request->connection);
			return -1;
		}
		at += (size_t)taken;
	}
	request->server_keep = request->server_keep && at == size;
	return 0;
}

/* Handles bytes of the head, which may be followed by the body. Returns 0, or -1 if the request
 * has ended. */
static int handle_first(struct model_request *request, const char *bytes, size_t size)
{
	struct buffer *answer = &request->answer;

	buffer_add(answer, bytes, size);
	if (buffer_overflowed(answer)) {
		model_request_broken(request, "the head of its response is too long");
		return -1;
	}
	while (request->state != MODEL_REQUEST_ANSWERED) {
		ssize_t head = http_head_size(answer->data, answer->used, request->scanned);

		request->scanned = answer->used;
		if (head < 0) {
			model_request_broken(request, "its response is not valid HTTP/1");
			return -1;
		}
		if (head == 0)
			return 0;
		if (handle_head(request, (size_t)head) < 0)
			return -1;
		memmove(answer->data, answer->data + head, answer->used - (size_t)head);
		answer->used -= (size_t)head;
		request->scanned = 0;
	}

	int result = handle_body(request, answer->data, answer->used);

	if (result == 0)
		buffer_release(answer);
	return result;
}

static void lost(struct model_request *request, ssize_t n)
{
	/* Forward what arrived before that. */
	request->holding = false;
	if (request->state == MODEL_REQUEST_ANSWERED && request->answer_kind != HTTP_UNTIL_CLOSE &&
	    flush(request) < 0) {
		connection_reset(request->connection);
		return;
	}
	if (n == 0 && request->state == MODEL_REQUEST_ANSWERED &&
	    request->answer_kind == HTTP_UNTIL_CLOSE)
		end_answer(request);
	else
		model_request_broken(
			request,
			n == 0 ? "it closed the connection before its response was complete"
			       : upstream_wrong(request->link));
}

void model_request_read_answer(struct model_request *request)
{
	enum { ROUNDS = 8 }; /* then other connections get a turn */
	struct engine *engine = request->engine;
	struct connection *connection = request->connection;

	engine->out.used = 0;
	for (int i = 0;
	     (i < ROUNDS || upstream_has_more(request->link)) && !connection->client.kept; i++) {
		size_t most = request->state == MODEL_REQUEST_ANSWERED
				      ? ENGINE_SCRATCH
				      : request->answer.max - request->answer.used;
		ssize_t n = upstream_read(request->link, engine->scratch, most);

		if (n == TLS_AGAIN)
			break;
		if (n <= 0) {
			lost(request, n);
			return;
		}
		event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
		if ((request->state == MODEL_REQUEST_ANSWERED
			     ? handle_body(request, engine->scratch, (size_t)n)
			     : handle_first(request, engine->scratch, (size_t)n)) < 0)
			return;
		if (request->state == MODEL_REQUEST_ANSWERED && request->answer_done) {
			end_answer(request);
			return;
		}
		if ((size_t)n < most && !upstream_has_more(request->link))
			break; /* another read would only return EAGAIN */
	}
	if (flush(request) < 0) {
		connection_reset(connection);
		return;
	}
	model_request_true_up(request);
	/* otherwise it was cut for exceeding its budget */
	if (connection->stage == CONNECTION_STAGE_MODEL && connection->request == request) {
		model_request_note(request);
		model_request_update(connection);
	}
}
