/* Sends a request to its provider: see model_request.h. */
#include "gateway/model/model_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_head(struct model_request *call)
{
	const struct model_config_provider *provider = call->upstream->provider;
	const struct model_config_place *place = &provider->place;
	bool six = place->target.address.family == 6;
	struct buffer *head = &call->head;

	buffer_printf(head, "%s %s%s HTTP/1.1\r\nHost: %s%s%s", call->target.route->method,
		      place->prefix, call->target.target, six ? "[" : "", place->target.host,
		      six ? "]" : "");
	if (place->target.port != (place->tls ? 443 : 80))
		buffer_printf(head, ":%u", place->target.port);
	buffer_add_text(head, "\r\n");
	buffer_add(head, call->lines.data, call->lines.used);
	buffer_release(&call->lines);
	if (provider->key[0])
		provider_add_key(provider_at(call->target.route->provider), provider->key, head);
	buffer_add_text(head, "Accept-Encoding: identity\r\n");
	if (call->size > 0 || strcmp(call->target.route->method, "POST") == 0)
		buffer_printf(head,
			      "Content-Type: application/json\r\nContent-Length: %" PRIu64 "\r\n",
			      (uint64_t)((int64_t)call->size + request_body_growth(&call->body)));
	buffer_add_text(head, "\r\n");
}

/* Returns the next bytes to send, from the head, an edit or the body, or 0 at the end. */
static size_t next_piece(struct model_request *call, const char **ret_bytes)
{
	struct engine *engine = call->engine;
	const struct request_edit *edit = call->edit < call->body.edit_count
						  ? &call->body.edits[call->edit]
						  : NULL;
	uint64_t end = edit ? edit->at : call->size;
	size_t size;

	if (call->head_at < call->head.used) {
		*ret_bytes = call->head.data + call->head_at;
		return call->head.used - call->head_at;
	}
	if (edit && call->body_at == edit->at) {
		*ret_bytes = edit->text + call->edit_at;
		return strlen(edit->text) - call->edit_at;
	}
	size = end - call->body_at < ENGINE_SCRATCH ? (size_t)(end - call->body_at)
						    : ENGINE_SCRATCH;
	*ret_bytes = call->memory.data + call->body_at;
	if (call->spool >= 0) {
		ssize_t n = size ? pread(call->spool, engine->scratch, size, (off_t)call->body_at)
				 : 0;

		*ret_bytes = engine->scratch;
		size = n > 0 ? (size_t)n : 0;
	}
	return size;
}

static void took(struct model_request *call, size_t size)
{
	const struct request_edit *edit = call->edit < call->body.edit_count
						  ? &call->body.edits[call->edit]
						  : NULL;

	if (call->head_at < call->head.used) {
		call->head_at += size;
	} else if (edit && call->body_at == edit->at) {
		call->edit_at += size;
	} else {
		call->body_at += size;
	}
	edit = call->edit < call->body.edit_count ? &call->body.edits[call->edit] : NULL;
	if (edit && call->head_at == call->head.used && call->body_at == edit->at &&
	    call->edit_at == strlen(edit->text)) {
		call->body_at += edit->remove;
		call->edit++;
		call->edit_at = 0;
	}
}

/* Sends a small request in one piece: one TLS record, one packet. */
static void join_small(struct model_request *call)
{
	if (call->spool < 0 && call->body.edit_count == 0 && call->size < 16384 &&
	    call->size + call->head.used < call->head.max) {
		buffer_add(&call->head, call->memory.data, call->size);
		call->body_at = call->size;
	}
}

static void finish_sending(struct model_request *call)
{
	call->sent = true;
	if (call->head.used > 0) /* a tape gets no head */
		explicit_bzero(call->head.data, call->head.used);
	buffer_release(&call->head);
	buffer_release(&call->memory);
	if (call->spool >= 0) {
		call->engine->spooled -= call->size;
		close(call->spool);
		call->spool = -1;
	}
}

static void send_on(struct model_request *call)
{
	while (!call->sent) {
		const char *bytes = NULL;
		size_t size = next_piece(call, &bytes);
		ssize_t n;

		if (size == 0) {
			finish_sending(call);
			break;
		}
		n = upstream_write(call->link, bytes, size);
		if (n == TLS_AGAIN)
			break;
		if (n < 0) {
			/* It may have responded before it closed; the next read shows that. */
			model_request_read_answer(call);
			return;
		}
		took(call, (size_t)n);
	}
	model_request_update(call->connection);
}

static void link_opened(void *context)
{
	struct model_request *call = context;

	call->state = MODEL_REQUEST_SENDING;
	send_on(call);
}

static void link_failed(void *context, const char *why)
{
	struct model_request *call = context;

	call->link = NULL;
	snprintf(call->unreached, sizeof call->unreached, "%s", why);
	model_request_broken(call, why);
}

static void link_is_ready(void *context, uint32_t events)
{
	struct model_request *call = context;
	struct connection *connection = call->connection;

	(void)events;
	if (call->state == MODEL_REQUEST_SENDING && !call->sent)
		send_on(call);
	/* A response may arrive before the request is sent completely. */
	if (connection->stage == CONNECTION_STAGE_CALL && connection->call == call &&
	    !connection->client.kept)
		model_request_read_answer(call);
	if (connection->stage != CONNECTION_STAGE_OVER)
		connection_advance(connection);
}

void model_request_connect(struct model_request *call)
{
	const struct upstream_user user = {
		.open = link_opened, .failed = link_failed, .ready = link_is_ready, .context = call
	};

	if (call->engine->reels.replay) {
		if (reel_connect(call, &user))
			link_opened(call);
		return;
	}
	reel_record_request(call);
	write_head(call);
	join_small(call);
	mask_init(&call->mask, call->upstream->provider->key);
	call->state = MODEL_REQUEST_CONNECTING;
	call->link = upstream_get(call->upstream, &user);
	if (upstream_is_open(call->link))
		link_opened(call);
}

void model_request_resume(struct connection *connection)
{
	struct model_request *call = connection->call;

	if (!connection->client.kept && call->link && call->state >= MODEL_REQUEST_SENDING &&
	    upstream_has_more(call->link))
		model_request_read_answer(call);
}

void model_request_update(struct connection *connection)
{
	struct model_request *call = connection->call;

	if (!call || !call->link || call->state < MODEL_REQUEST_SENDING)
		return;
	/* A slow client slows down its provider. */
	upstream_watch(call->link, !connection->client.kept, !call->sent);
}
