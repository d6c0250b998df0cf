/* Sends a request to its provider: see model_request.h. */
#include "gateway/model/model_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_head(struct model_request *request)
{
	const struct model_config_provider *provider = request->upstream->provider;
	const struct model_config_place *place = &provider->place;
	bool six = place->target.address.family == 6;
	struct buffer *head = &request->head;

	buffer_printf(head, "%s %s%s HTTP/1.1\r\nHost: %s%s%s", request->target.route->method,
		      place->prefix, request->target.target, six ? "[" : "", place->target.host,
		      six ? "]" : "");
	if (place->target.port != (place->tls ? 443 : 80))
		buffer_printf(head, ":%u", place->target.port);
	buffer_add_text(head, "\r\n");
	buffer_add(head, request->lines.data, request->lines.used);
	buffer_release(&request->lines);
	if (provider->key[0])
		provider_add_key(provider_at(request->target.route->provider), provider->key, head);
	buffer_add_text(head, "Accept-Encoding: identity\r\n");
	if (request->size > 0 || strcmp(request->target.route->method, "POST") == 0)
		buffer_printf(head,
			      "Content-Type: application/json\r\nContent-Length: %" PRIu64 "\r\n",
			      (uint64_t)((int64_t)request->size +
					 request_body_growth(&request->body)));
	buffer_add_text(head, "\r\n");
}

/* Returns the next bytes to send, from the head, an edit or the body, or 0 at the end. */
static size_t next_piece(struct model_request *request, const char **ret_bytes)
{
	struct engine *engine = request->engine;
	const struct request_edit *edit = request->edit < request->body.edit_count
						  ? &request->body.edits[request->edit]
						  : NULL;
	uint64_t end = edit ? edit->at : request->size;
	size_t size;

	if (request->head_at < request->head.used) {
		*ret_bytes = request->head.data + request->head_at;
		return request->head.used - request->head_at;
	}
	if (edit && request->body_at == edit->at) {
		*ret_bytes = edit->text + request->edit_at;
		return strlen(edit->text) - request->edit_at;
	}
	size = end - request->body_at < ENGINE_SCRATCH ? (size_t)(end - request->body_at)
						       : ENGINE_SCRATCH;
	*ret_bytes = request->memory.data + request->body_at;
	if (request->spool >= 0) {
		ssize_t n = size ? pread(request->spool, engine->scratch, size,
					 (off_t)request->body_at)
				 : 0;

		*ret_bytes = engine->scratch;
		size = n > 0 ? (size_t)n : 0;
	}
	return size;
}

static void took(struct model_request *request, size_t size)
{
	const struct request_edit *edit = request->edit < request->body.edit_count
						  ? &request->body.edits[request->edit]
						  : NULL;

	if (request->head_at < request->head.used) {
		request->head_at += size;
	} else if (edit && request->body_at == edit->at) {
		request->edit_at += size;
	} else {
		request->body_at += size;
	}
	edit = request->edit < request->body.edit_count ? &request->body.edits[request->edit]
							: NULL;
	if (edit && request->head_at == request->head.used && request->body_at == edit->at &&
	    request->edit_at == strlen(edit->text)) {
		request->body_at += edit->remove;
		request->edit++;
		request->edit_at = 0;
	}
}

/* Sends a small request in one piece: one TLS record, one packet. */
static void join_small(struct model_request *request)
{
	if (request->spool < 0 && request->body.edit_count == 0 && request->size < 16384 &&
	    request->size + request->head.used < request->head.max) {
		buffer_add(&request->head, request->memory.data, request->size);
		request->body_at = request->size;
	}
}

static void finish_sending(struct model_request *request)
{
	request->sent = true;
	request->sent_ms = request->engine->loop.now_ms;
	if (request->head.used > 0) /* a tape gets no head */
		explicit_bzero(request->head.data, request->head.used);
	buffer_release(&request->head);
	buffer_release(&request->memory);
	if (request->spool >= 0) {
		request->engine->spooled -= request->size;
		close(request->spool);
		request->spool = -1;
	}
}

static void send_on(struct model_request *request)
{
	while (!request->sent) {
		const char *bytes = NULL;
		size_t size = next_piece(request, &bytes);
		ssize_t n;

		if (size == 0) {
			finish_sending(request);
			break;
		}
		n = upstream_write(request->link, bytes, size);
		if (n == TLS_AGAIN)
			break;
		if (n < 0) {
			/* It may have responded before it closed; the next read shows that. */
			model_request_read_answer(request);
			return;
		}
		took(request, (size_t)n);
	}
	model_request_update(request->connection);
}

static void link_opened(void *context)
{
	struct model_request *request = context;

	request->state = MODEL_REQUEST_SENDING;
	model_request_note(request); /* from here on it may be billed */
	send_on(request);
}

static void link_failed(void *context, const char *why)
{
	struct model_request *request = context;

	request->link = NULL;
	snprintf(request->unreached, sizeof request->unreached, "%s", why);
	model_request_broken(request, why);
}

static void link_is_ready(void *context, uint32_t events)
{
	struct model_request *request = context;
	struct connection *connection = request->connection;

	(void)events;
	if (request->state == MODEL_REQUEST_SENDING && !request->sent)
		send_on(request);
	/* A response may arrive before the request is sent completely. */
	if (connection->stage == CONNECTION_STAGE_MODEL && connection->request == request &&
	    !connection->client.kept)
		model_request_read_answer(request);
	if (connection->stage != CONNECTION_STAGE_OVER)
		connection_advance(connection);
}

void model_request_connect(struct model_request *request)
{
	const struct upstream_user user = { .open = link_opened,
					    .failed = link_failed,
					    .ready = link_is_ready,
					    .context = request };

	if (request->engine->reels.replay) {
		if (reel_connect(request, &user))
			link_opened(request);
		return;
	}
	reel_record_request(request);
	write_head(request);
	join_small(request);
	mask_init(&request->mask, request->upstream->provider->key);
	request->state = MODEL_REQUEST_CONNECTING;
	request->link = upstream_get(request->upstream, &user);
	if (upstream_is_open(request->link))
		link_opened(request);
}

void model_request_resume(struct connection *connection)
{
	struct model_request *request = connection->request;

	if (!connection->client.kept && request->link && request->state >= MODEL_REQUEST_SENDING &&
	    upstream_has_more(request->link))
		model_request_read_answer(request);
}

void model_request_update(struct connection *connection)
{
	struct model_request *request = connection->request;

	if (!request || !request->link || request->state < MODEL_REQUEST_SENDING)
		return;
	/* A slow client slows down its provider. */
	upstream_watch(request->link, !connection->client.kept, !request->sent);
}
