/* Answering requests from a tape: see reel.h. */
#include "gateway/model/model_request.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct reel {
	struct reel *next; /* in the list of reels that are due */
	struct event_loop_alarm alarm;
	struct model_request *request;
	struct upstream_user user;
	const struct tape_exchange *exchange;
	struct buffer wire; /* the response as a provider would send it */
	size_t *stops;      /* the end of each piece */
	size_t piece, at;
	bool armed;
};

/* --- set-up */

int reel_begin(struct engine *engine, int tape, int used, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(TAPE_MOST);
	AUTO_FD tape_fd = tape;
	AUTO_FD used_fd = used;
	const struct model_config *models = &engine->config.models;
	struct reel_deck *reels = &engine->reels;
	struct stat status;
	void *memory;

	if (lseek(tape_fd, 0, SEEK_SET) < 0 || fd_read_all(tape_fd, &bytes) < 0)
		return error_sys(err, "read the tape");
	if (tape_read(buffer_text(&bytes), bytes.used, &reels->tape, err) < 0)
		return -1;
	tape_names_add(&reels->names, engine->config.token, "<token>", false);
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (strlen(models->providers[i].key) >= MASK_SHORTEST)
			tape_names_add(&reels->names, models->providers[i].key, "<key>", false);
	tape_names_add(&reels->names, models->tape.project, "<project>", true);
	tape_names_add(&reels->names, models->tape.home, "<home>", true);
	reels->size = bytes.used;
	if (models->tape.mode == MODEL_ACCESS_RECORD) {
		reels->fd = fd_steal(&tape_fd);
		return 0;
	}
	if (fstat(used_fd, &status) < 0 || status.st_size != (off_t)sizeof *reels->marks)
		return error_set(err, "the replay marks are from another version");
	memory = mmap(NULL, sizeof *reels->marks, PROT_READ | PROT_WRITE, MAP_SHARED, used_fd, 0);
	if (memory == MAP_FAILED)
		return error_sys(err, "map the replay marks");
	reels->marks = memory;
	reels->used = mem_alloc(sizeof reels->marks->used);
	memcpy(reels->used, reels->marks->used, sizeof reels->marks->used);
	reels->replay = true;
	return 0;
}

/* --- reading a request */

static int read_request(const struct model_request *request, struct buffer *body)
{
	if (request->spool < 0) {
		buffer_add(body, request->memory.data, request->memory.used);
		return 0;
	}
	while (body->used < request->size) {
		size_t most = request->size - body->used < ENGINE_SCRATCH
				      ? (size_t)(request->size - body->used)
				      : ENGINE_SCRATCH;
		ssize_t n = pread(request->spool, request->engine->scratch, most,
				  (off_t)body->used);

		if (n <= 0)
			return -1;
		buffer_add(body, request->engine->scratch, (size_t)n);
	}
	return 0;
}

void reel_listen(struct model_request *request, struct tape_talk *ret_talk)
{
	AUTO_BUFFER struct buffer body = BUFFER_INIT(MODEL_REQUEST_BODY_MOST);
	const struct request_route *route = request->target.route;
	const char *model = request->body.model[0] ? request->body.model : request->target.model;

	snprintf(ret_talk->route, sizeof ret_talk->route, "%s", route->name);
	snprintf(ret_talk->provider, sizeof ret_talk->provider, "%s",
		 provider_at(route->provider)->name);
	tape_model(ret_talk->model, model, strlen(model));
	ret_talk->stream = request->body.stream;
	if (read_request(request, &body) == 0)
		tape_talk_read(ret_talk, buffer_text(&body), body.used,
			       &request->engine->reels.names);
}

/* --- the response */

static void add_headers(struct buffer *wire, const char *headers, bool paced)
{
	for (const char *end; (end = strchr(headers, '\n')); headers = end + 1) {
		size_t name = strcspn(headers, ":");
		bool after = strncasecmp(headers, "retry-after", 11) == 0;
		bool reset = strncasecmp(headers, "x-ratelimit-reset-", 18) == 0;

		/* A replay without pacing does not wait for rate limits either: one second
		 * stands for any limit. */
		if ((after || reset) && !paced)
			buffer_printf(wire, "%.*s: %s\r\n", (int)name, headers,
				      reset       ? "1s"
				      : name > 11 ? "1000"
						  : "1");
		else
			buffer_printf(wire, "%.*s\r\n", (int)(end - headers), headers);
	}
}

/* Builds the response as bytes. One that was cut has no end, and a stream has no length. */
static void make_wire(struct reel *reel, bool paced)
{
	const struct tape_exchange *exchange = reel->exchange;
	bool frames = !exchange->whole || exchange->talk.stream;
	struct buffer *wire = &reel->wire;

	reel->stops = mem_zero((exchange->burst_count + 2) * sizeof *reel->stops);
	if (!exchange->status)
		return;
	buffer_printf(wire, "HTTP/1.1 %u %s\r\n", exchange->status,
		      exchange->status < 300 ? "OK" : "Error");
	add_headers(wire, exchange->headers, paced);
	if (frames)
		buffer_add_text(wire, "Transfer-Encoding: chunked\r\n\r\n");
	else
		buffer_printf(wire, "Content-Length: %zu\r\n\r\n", exchange->body.used);
	reel->stops[0] = wire->used;
	for (size_t i = 0; i < exchange->burst_count; i++) {
		size_t start = exchange->bursts[i].start;
		size_t end = i + 1 < exchange->burst_count ? exchange->bursts[i + 1].start
							   : exchange->body.used;

		if (frames)
			http_chunk_write(exchange->body.data + start, end - start, wire);
		else
			buffer_add(wire, exchange->body.data + start, end - start);
		reel->stops[i + 1] = wire->used;
	}
	if (frames && exchange->whole)
		buffer_add_text(wire, "0\r\n\r\n");
	reel->stops[exchange->burst_count + 1] = wire->used;
}

/* When the next piece is due, in milliseconds since the request began. */
static uint32_t due_ms(const struct reel *reel)
{
	const struct tape_exchange *exchange = reel->exchange;

	if (exchange->burst_count == 0 || reel->piece > exchange->burst_count)
		return exchange->end_ms;
	return exchange->bursts[reel->piece ? reel->piece - 1 : 0].at_ms;
}

static bool is_due(const struct reel *reel)
{
	const struct engine *engine = reel->request->engine;

	return !engine->config.models.tape.paced ||
	       engine->loop.now_ms - reel->request->began_ms >= due_ms(reel);
}

ssize_t reel_read(struct reel *reel, void *bytes, size_t size)
{
	size_t pieces = reel->exchange->burst_count + 2;
	size_t left;

	while (reel->piece < pieces && reel->at == reel->stops[reel->piece])
		reel->piece++;
	if (!is_due(reel))
		return TLS_AGAIN;
	if (reel->piece == pieces) {
		/* The usage of a cut response is estimated from its duration: use the recorded
		 * one. */
		reel->request->began_ms = reel->request->engine->loop.now_ms -
					  reel->exchange->end_ms;
		return 0;
	}
	left = reel->stops[reel->piece] - reel->at;
	left = left < size ? left : size;
	memcpy(bytes, reel->wire.data + reel->at, left);
	reel->at += left;
	return (ssize_t)left;
}

/* --- scheduling */

static void disarm(struct reel *reel)
{
	struct reel **at = &reel->request->engine->reels.ready;

	event_loop_alarm_stop(&reel->alarm);
	if (!reel->armed)
		return;
	reel->armed = false;
	while (*at && *at != reel)
		at = &(*at)->next;
	if (*at)
		*at = reel->next;
	reel->next = NULL;
}

static void go_on(struct reel *reel)
{
	disarm(reel);
	reel->user.ready(reel->user.context, EPOLLIN);
}

static void ring(struct event_loop_alarm *alarm)
{
	struct reel *reel = EVENT_LOOP_OWNER(alarm, struct reel, alarm);

	if (is_due(reel))
		go_on(reel);
	else
		event_loop_alarm_start(&reel->request->engine->loop, &reel->request->engine->pace,
				       &reel->alarm);
}

void reel_watch(struct reel *reel, bool reading)
{
	struct engine *engine = reel->request->engine;
	struct reel **at = &engine->reels.ready;

	if (!reading) {
		disarm(reel);
	} else if (!is_due(reel)) {
		event_loop_alarm_start(&engine->loop, &engine->pace, &reel->alarm);
	} else if (!reel->armed) {
		while (*at)
			at = &(*at)->next;
		*at = reel;
		reel->armed = true;
	}
}

uint64_t reel_settle(struct engine *engine)
{
	size_t count = 0;

	for (const struct reel *reel = engine->reels.ready; reel; reel = reel->next)
		count++;
	/* Each reel once, then others get a turn. A reel may end another one. */
	while (count-- > 0 && engine->reels.ready)
		go_on(engine->reels.ready);
	return engine->reels.ready ? 0 : UINT64_MAX;
}

void reel_free(struct reel *reel)
{
	struct reel_deck *reels;
	size_t index;

	if (!reel)
		return;
	/* Not earlier: if this process is killed before, the client retries and gets the same
	 * response. */
	reels = &reel->request->engine->reels;
	index = (size_t)(reel->exchange - reels->tape.exchanges);
	reels->marks->used[index] = reels->used[index];
	disarm(reel);
	buffer_release(&reel->wire);
	free(reel->stops);
	event_loop_free_later(&reel->request->engine->loop, reel);
}

/* --- matching a request to its response */

static bool stray(struct model_request *request, const struct tape_talk *talk)
{
	struct engine *engine = request->engine;
	struct reel_deck *reels = &engine->reels;
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_NEWS, .id = 1 };
	char where[TAPE_DIFFERENCE];
	char text[sizeof reels->stray];

	tape_difference(&reels->tape, talk, reels->used, where);
	snprintf(text, sizeof text, "the request differs from the recording: %s", where);
	/* Clients list models and count tokens on the side: nothing depends on these requests. */
	if (request->target.route->billed) {
		memcpy(reels->stray, text, sizeof reels->stray);
		snprintf(message.u.text, sizeof message.u.text, "%s", text);
		if (owner_protocol_send(engine->owner.fd, &message, NULL, 0, true) < 0)
			engine->loop.over = true;
	}
	model_request_refuse(request->connection, request->target.route->format, SHAPE_REQUEST,
			     text);
	return false;
}

bool reel_connect(struct model_request *request, const struct upstream_user *user)
{
	struct reel_deck *reels = &request->engine->reels;
	bool billed = request->target.route->billed;
	struct tape_talk talk = { 0 };
	struct reel *reel;
	bool found = false;
	size_t index;

	if (reels->stray[0] && billed) {
		model_request_refuse(request->connection, request->target.route->format,
				     SHAPE_REQUEST, reels->stray);
		return false;
	}
	reel_listen(request, &talk);
	index = tape_find(&reels->tape, &talk, reels->used, !billed);
	if (index == SIZE_MAX) {
		stray(request, &talk);
	} else {
		found = true;
		reels->used[index] = request->engine->config.models.tape.mark;
		reel = mem_zero(sizeof *reel);
		reel->request = request;
		reel->user = *user;
		reel->alarm.ring = ring;
		reel->exchange = &reels->tape.exchanges[index];
		reel->wire = BUFFER_INIT(2 * (size_t)TAPE_BODY);
		make_wire(reel, request->engine->config.models.tape.paced);
		request->link = upstream_play(request->upstream, user, reel);
	}
	tape_talk_release(&talk);
	return found;
}
