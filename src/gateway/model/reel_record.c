/* Recording of requests: see reel.h. */
#include "gateway/model/model_request.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct reel_recorder {
	struct tape_exchange exchange;
	struct buffer headers;
};

/* Reports to the owner, which tells the user. */
static void stop_recording(struct engine *engine, const char *why)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_NEWS };

	fd_close(&engine->reels.fd);
	snprintf(message.u.text, sizeof message.u.text,
		 "the recording ends here, and the run continues without it: %s", why);
	if (owner_protocol_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void reel_record_request(struct model_request *request)
{
	struct tape_exchange *exchange;

	if (request->engine->reels.fd < 0)
		return;
	request->recorder = mem_zero(sizeof *request->recorder);
	request->recorder->headers = BUFFER_INIT(TAPE_HEADERS * 1024);
	exchange = &request->recorder->exchange;
	exchange->body = BUFFER_INIT(TAPE_BODY);
	exchange->free = request->upstream->provider->free;
	snprintf(exchange->method, sizeof exchange->method, "%s", request->target.route->method);
	snprintf(exchange->path, sizeof exchange->path, "%.*s", (int)sizeof exchange->path - 1,
		 request->target.target);
	reel_listen(request, &exchange->talk);
}

static bool is_kept(struct http_text name, struct http_text value)
{
	static const char *const names[] = { "content-type", "retry-after", "retry-after-ms",
					     "x-should-retry", NULL };
	static const char *const prefixes[] = { "anthropic-ratelimit-", "x-ratelimit-", NULL };

	for (size_t i = 0; i < value.size; i++)
		if (value.at[i] < 0x20 || value.at[i] > 0x7e)
			return false;
	if (name.size + value.size > 1000 || value.size == 0)
		return false;
	for (const char *const *at = names; *at; at++)
		if (http_text_is(name, *at))
			return true;
	for (const char *const *at = prefixes; *at; at++)
		if (name.size > strlen(*at) && strncasecmp(name.at, *at, strlen(*at)) == 0)
			return true;
	return false;
}

void reel_record_head(struct model_request *request, const struct http_response *response)
{
	struct http_text lines = response->message.lines;
	struct http_text name;
	struct http_text value;
	size_t count = 0;

	if (!request->recorder)
		return;
	request->recorder->exchange.status = response->status;
	while (http_line_next(&lines, &name, &value)) {
		if (!is_kept(name, value) || ++count > TAPE_HEADERS)
			continue;
		for (size_t i = 0; i < name.size; i++)
			buffer_printf(&request->recorder->headers, "%c",
				      name.at[i] >= 'A' && name.at[i] <= 'Z' ? name.at[i] | 0x20
									     : name.at[i]);
		buffer_printf(&request->recorder->headers, ": %.*s\n", (int)value.size, value.at);
	}
}

static uint32_t elapsed(const struct model_request *request)
{
	return (uint32_t)(request->engine->loop.now_ms - request->began_ms);
}

void reel_record_bytes(struct model_request *request, const char *bytes, size_t size)
{
	if (request->recorder && size > 0)
		tape_exchange_add(&request->recorder->exchange, elapsed(request), bytes, size);
}

void reel_record_whole(struct model_request *request)
{
	if (request->recorder)
		request->recorder->exchange.whole = true;
}

/* Masks keys and tokens in a response, in any spelling. */
static void mask_names(const struct engine *engine, struct buffer *body)
{
	const struct tape_names *names = &engine->reels.names;

	for (size_t i = 0; i < names->count; i++)
		if (!names->items[i].path)
			mask_text(names->items[i].text, body->data, body->used);
}

static void write_down(struct engine *engine, struct tape_exchange *exchange)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	struct reel_deck *reels = &engine->reels;

	mask_names(engine, &exchange->body);
	if (buffer_overflowed(&exchange->body))
		stop_recording(engine, "a response is too long for a tape");
	else if (tape_write(&reels->tape, exchange, &text) < 0 ||
		 reels->size + text.used > TAPE_MOST)
		stop_recording(engine, "the tape is full");
	else if (fd_write_all(reels->fd, text.data, text.used) < 0)
		stop_recording(engine, strerror(errno));
	else
		reels->size += text.used;
}

void reel_record_end(struct model_request *request)
{
	struct reel_recorder *recorder = request->recorder;

	if (!recorder)
		return;
	request->recorder = NULL;
	mask_names(request->engine, &recorder->headers);
	recorder->exchange.headers = mem_dup(buffer_text(&recorder->headers));
	recorder->exchange.end_ms = elapsed(request);
	/* A request that did not reach the provider is not recorded. */
	if (request->engine->reels.fd >= 0 && (request->sent || recorder->exchange.status))
		write_down(request->engine, &recorder->exchange);
	tape_exchange_release(&recorder->exchange);
	buffer_release(&recorder->headers);
	free(recorder);
}
