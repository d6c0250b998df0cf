/* A visit's life, and what its stages share: see engine.h. */
#include "gateway/engine.h"

#include "gateway/call.h"
#include "util/mem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void update(struct visit *visit);

/* --- sides */

static void forget_kept(struct side *side)
{
	side->visit->engine->kept -= side->kept_size;
	free(side->kept);
	side->kept = NULL;
	side->kept_at = side->kept_size = 0;
}

static int side_flush(struct side *side)
{
	while (side->kept) {
		ssize_t n = send(side->source.fd, side->kept + side->kept_at,
				 side->kept_size - side->kept_at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		side->kept_at += (size_t)n;
		if (side->kept_at == side->kept_size)
			forget_kept(side);
	}
	return 0;
}

int side_send(struct side *side, const void *bytes, size_t size)
{
	size_t sent = 0;

	if (!side->kept && size) {
		ssize_t n;

		do
			n = send(side->source.fd, bytes, size, MSG_NOSIGNAL);
		while (n < 0 && errno == EINTR);
		if (n < 0 && errno != EAGAIN)
			return -1;
		sent = n < 0 ? 0 : (size_t)n;
	}
	if (sent < size) {
		side->kept = mem_resize(side->kept, side->kept_size + size - sent, 1);
		memcpy(side->kept + side->kept_size, (const char *)bytes + sent, size - sent);
		side->kept_size += size - sent;
		side->visit->engine->kept += size - sent;
	}
	return 0;
}

int side_say(struct side *side, const char *text)
{
	return side_send(side, text, strlen(text));
}

ssize_t side_receive(struct side *side, size_t most)
{
	struct engine *engine = side->visit->engine;
	size_t room = engine->kept > ENGINE_KEPT ? ENGINE_SIP : ENGINE_SCRATCH;
	ssize_t n;

	/* Each side keeps what one read has given, at most: so many slow readers cost little, too. */
	do
		n = recv(side->source.fd, engine->scratch, most < room ? most : room, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

static void side_close(struct side *side)
{
	event_loop_close(&side->visit->engine->loop, &side->source);
	forget_kept(side);
}

/* --- the end */

void visit_drop_server(struct visit *visit)
{
	side_close(&visit->server);
	visit->server.ended = visit->server.shut = false;
	if (visit->counted)
		visit->engine->active[visit->row - visit->engine->table->rows]--;
	visit->counted = false;
}

/* Name and connection are not wanted any more. */
static void stop_dialling(struct visit *visit)
{
	if (visit->question)
		resolver_forget(visit->question);
	dial_stop(visit->dial);
	visit->question = NULL;
	visit->dial = NULL;
}

void visit_end(struct visit *visit)
{
	struct engine *engine = visit->engine;

	if (visit->stage == STAGE_OVER)
		return;
	if (visit->stage == STAGE_HELD)
		engine->held_count--;
	visit->stage = STAGE_OVER;
	stop_dialling(visit);
	event_loop_alarm_stop(&visit->alarm);
	visit_drop_server(visit);
	side_close(&visit->client);
	buffer_release(&visit->input);
	exchange_free(visit->exchange);
	call_free(visit->call);
	visit->call = NULL;
	free(visit->refusal);
	visit->exchange = NULL;
	visit->refusal = NULL;
	if (visit->prev)
		visit->prev->next = visit->next;
	else
		engine->visits = visit->next;
	if (visit->next)
		visit->next->prev = visit->prev;
	engine->visit_count--;
	event_loop_free_later(&engine->loop, visit);
	engine_admit(engine);
}

void visit_reset(struct visit *visit)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (visit->stage == STAGE_OVER)
		return;
	setsockopt(visit->client.source.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	if (visit->server.source.fd >= 0)
		setsockopt(visit->server.source.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	visit_end(visit);
}

static void say_the_end(struct visit *visit)
{
	if (!visit->client.kept && !visit->client.shut) {
		shutdown(visit->client.source.fd, SHUT_WR);
		visit->client.shut = true;
	}
}

/* A close with bytes unread is a reset, and takes the answer with it: so read on for a moment. */
void visit_finish(struct visit *visit)
{
	struct engine *engine = visit->engine;

	if (visit->stage == STAGE_OVER)
		return;
	stop_dialling(visit);
	visit_drop_server(visit);
	buffer_release(&visit->input);
	visit->stage = STAGE_LINGER;
	event_loop_alarm_start(&engine->loop, &engine->linger, &visit->alarm);
	say_the_end(visit);
	update(visit);
}

static void linger(struct visit *visit)
{
	enum { ROUNDS = 4 }; /* then it is somebody else's turn */
	ssize_t n = 1;

	say_the_end(visit);
	for (int i = 0; i < ROUNDS && n > 0; i++)
		n = side_receive(&visit->client, ENGINE_SCRATCH);
	if ((n == 0 && !visit->client.kept) || (n < 0 && errno != EAGAIN))
		visit_end(visit);
	else if (n == 0)
		visit->client.ended = true;
}

/* --- what is waited for */

static bool reads_input(const struct visit *visit)
{
	switch (visit->stage) {
	case STAGE_FIRST:
	case STAGE_HEAD:
	case STAGE_METHODS:
	case STAGE_PASSWORD:
	case STAGE_REQUEST:
	case STAGE_HELLO:
		return true;
	default:
		return false;
	}
}

static uint32_t client_events(const struct visit *visit)
{
	uint32_t events = visit->client.kept ? (uint32_t)EPOLLOUT : 0U;
	bool wanted = !visit->client.ended;

	if (reads_input(visit))
		wanted = wanted && !visit->client.kept;
	else if (visit->stage == STAGE_TUNNEL)
		wanted = wanted && !visit->server.kept;
	else if (visit->stage == STAGE_EXCHANGE)
		wanted = wanted && exchange_wants_client(visit);
	else if (visit->stage == STAGE_CALL)
		wanted = wanted && call_wants_client(visit);
	else if (visit->stage != STAGE_LINGER)
		wanted = false;
	/* Who has gone away needs no answer, and that saves money. */
	if (visit->stage == STAGE_CALL)
		events |= (uint32_t)EPOLLRDHUP;
	if (wanted)
		events |= (uint32_t)EPOLLIN;
	/* Where nothing is read, a client that is gone for good is still noticed. */
	if (!events && visit->stage != STAGE_TUNNEL)
		events = (uint32_t)EPOLLERR;
	return events;
}

static uint32_t server_events(const struct visit *visit)
{
	uint32_t events = visit->server.kept ? (uint32_t)EPOLLOUT : 0U;
	bool wanted = !visit->server.ended && !visit->client.kept;

	if (visit->stage == STAGE_HEAD)
		wanted = !visit->server.ended;
	else if (visit->stage != STAGE_TUNNEL && visit->stage != STAGE_EXCHANGE)
		wanted = false;
	if (wanted)
		events |= (uint32_t)EPOLLIN;
	if (!events && visit->stage == STAGE_HELLO)
		events = (uint32_t)EPOLLERR;
	return events;
}

static void update(struct visit *visit)
{
	struct event_loop *loop = &visit->engine->loop;

	if (visit->stage == STAGE_OVER)
		return;
	event_loop_watch(loop, &visit->client.source, client_events(visit));
	if (visit->server.source.fd >= 0)
		event_loop_watch(loop, &visit->server.source, server_events(visit));
	if (visit->stage == STAGE_CALL)
		call_update(visit);
}

/* --- what happens */

void visit_consume(struct visit *visit, size_t size)
{
	struct buffer *input = &visit->input;

	visit->scanned = 0;
	if (size == input->used) {
		buffer_release(input); /* an idle connection costs nothing */
		return;
	}
	memmove(input->data, input->data + size, input->used - size);
	input->used -= size;
}

void visit_advance(struct visit *visit)
{
	bool more = true;

	while (more) {
		switch (visit->stage) {
		case STAGE_FIRST:
			more = greet_first(visit);
			break;
		case STAGE_HEAD:
			more = greet_head(visit);
			break;
		case STAGE_METHODS:
			more = greet_methods(visit);
			break;
		case STAGE_PASSWORD:
			more = greet_password(visit);
			break;
		case STAGE_REQUEST:
			more = greet_request(visit);
			break;
		case STAGE_HELLO:
			more = tunnel_hello(visit);
			break;
		default:
			more = false;
		}
	}
	update(visit);
}

static void read_input(struct visit *visit)
{
	struct engine *engine = visit->engine;
	size_t room = visit->input.max - visit->input.used;
	ssize_t n = side_receive(&visit->client, room);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		/* The end before anything was asked for, or in the middle of it. */
		visit_end(visit);
		return;
	}
	/* The first byte of another request on this connection: from here on it has the time of a head. */
	if (visit->input.used == 0 && visit->stage == STAGE_HEAD)
		event_loop_alarm_start(&engine->loop, &engine->header, &visit->alarm);
	buffer_add(&visit->input, engine->scratch, (size_t)n);
	visit_advance(visit);
}

static void client_ready(struct event_loop_source *source, uint32_t events)
{
	struct visit *visit = EVENT_LOOP_OWNER(source, struct visit, client.source);

	if (events & EPOLLOUT && side_flush(&visit->client) < 0) {
		visit_reset(visit);
		return;
	}
	if (visit->stage == STAGE_CALL && events & EPOLLOUT)
		call_resume(visit);
	if (visit->stage == STAGE_CALL && events & EPOLLRDHUP && !call_wants_client(visit)) {
		visit_reset(visit);
		return;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		if (visit->stage == STAGE_TUNNEL)
			tunnel_move(visit, &visit->client, &visit->server);
		else if (visit->stage == STAGE_LINGER)
			linger(visit);
		else if (visit->stage == STAGE_EXCHANGE && exchange_wants_client(visit))
			exchange_from_client(visit);
		else if (visit->stage == STAGE_CALL && call_wants_client(visit))
			call_from_client(visit);
		else if (reads_input(visit) && !visit->client.kept)
			read_input(visit);
		else if (events & (EPOLLERR | EPOLLHUP))
			visit_reset(visit);
	} else if (visit->stage == STAGE_LINGER) {
		linger(visit);
	} else if (visit->stage == STAGE_TUNNEL && visit->server.ended && !visit->client.kept) {
		tunnel_move(visit, &visit->server, &visit->client);
	}
	/* A client that has taken its answer may have asked for the next thing already. */
	if (visit->stage != STAGE_OVER)
		visit_advance(visit);
}

static void server_ready(struct event_loop_source *source, uint32_t events)
{
	struct visit *visit = EVENT_LOOP_OWNER(source, struct visit, server.source);

	if (events & EPOLLOUT && side_flush(&visit->server) < 0) {
		/* An answer may be there all the same. */
		if (visit->stage != STAGE_EXCHANGE) {
			visit_reset(visit);
			return;
		}
		forget_kept(&visit->server);
		events |= EPOLLIN;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		if (visit->stage == STAGE_TUNNEL)
			tunnel_move(visit, &visit->server, &visit->client);
		else if (visit->stage == STAGE_EXCHANGE)
			exchange_from_server(visit);
		else if (visit->stage == STAGE_HEAD && !visit->within)
			visit_drop_server(visit); /* it was only kept for the next request */
		else
			visit_end(visit);
	} else if (visit->stage == STAGE_TUNNEL && visit->client.ended && !visit->server.kept) {
		tunnel_move(visit, &visit->client, &visit->server);
	} else if (visit->stage == STAGE_EXCHANGE && exchange_wants_client(visit)) {
		exchange_from_client(visit);
	}
	if (visit->stage != STAGE_OVER)
		visit_advance(visit);
}

static void ring(struct event_loop_alarm *alarm)
{
	struct visit *visit = EVENT_LOOP_OWNER(alarm, struct visit, alarm);
	const struct caps *caps = &visit->engine->config.caps;

	switch (visit->stage) {
	case STAGE_HEAD:
		if (visit->input.used == 0) {
			visit_end(visit); /* nothing more was asked for */
			return;
		}
		judge_fail(visit, 408, SOCKS_FAILED,
			   "the head of the request was not whole within %u milliseconds",
			   (unsigned int)caps->header_ms);
		break;
	case STAGE_DIAL:
		judge_fail(visit, 504, SOCKS_UNREACHABLE,
			   "%s did not answer within %u milliseconds", visit->target.host,
			   (unsigned int)caps->connect_ms);
		break;
	case STAGE_HELLO:
		if (visit->free_port && visit->input.used == 0) {
			tunnel_quiet(visit);
			break;
		}
		visit_end(visit);
		return;
	case STAGE_HELD:
		refuse_answer(visit);
		break;
	case STAGE_CALL:
		if (call_wants_client(visit)) {
			call_too_slow(visit);
			return;
		}
		visit_reset(visit);
		return;
	case STAGE_EXCHANGE:
	case STAGE_TUNNEL:
		visit_reset(
			visit); /* nothing has moved; an end would look like the end of what was sent */
		return;
	default:
		visit_end(visit);
		return;
	}
	update(visit);
}

void visit_use_server(struct visit *visit, int fd)
{
	visit->server.source.fd = fd;
	visit->server.source.events = 0;
	visit->server.ended = visit->server.shut = false;
}

static bool count(struct visit *visit, uint64_t *sum, uint64_t cap, size_t size, const char *what)
{
	*sum += size;
	/* Nothing more is asked of it at its limit, and nothing passed on beyond it. */
	if (cap == 0 || *sum < cap || (*sum == cap && size > 0))
		return true;
	refuse(visit, 403, &visit->target, HOST_TABLE_CAPPED, "",
	       "has reached the limit of %llu bytes %s", (unsigned long long)cap, what);
	return false;
}

bool visit_count_in(struct visit *visit, size_t size)
{
	return count(visit, &visit->row->bytes_in, visit->engine->config.caps.bytes_in, size,
		     "from it (--net-in)");
}

bool visit_count_out(struct visit *visit, size_t size)
{
	return count(visit, &visit->row->bytes_out, visit->engine->config.caps.bytes_out, size,
		     "to it (--net-out)");
}

void visit_begin(struct engine *engine, const struct listener *listener, int fd,
		 const struct sockaddr_storage *peer)
{
	struct visit *visit = mem_zero(sizeof *visit);
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	visit->engine = engine;
	visit->client = (struct side){ .source = { .fd = fd, .ready = client_ready },
				       .visit = visit };
	visit->server = (struct side){ .source = { .fd = -1, .ready = server_ready },
				       .visit = visit };
	visit->alarm.ring = ring;
	visit->input = BUFFER_INIT(engine->config.caps.header_bytes);
	visit->own = listener->own;
	visit->spare = engine->visit_count >= engine->config.caps.connections;
	/* Both families have their port in the same place. */
	if (address_from((const struct sockaddr *)peer, &visit->peer) == 0)
		visit->peer_port = ntohs(((const struct sockaddr_in *)peer)->sin_port);
	visit->next = engine->visits;
	if (engine->visits)
		engine->visits->prev = visit;
	engine->visits = visit;
	engine->visit_count++;
	event_loop_alarm_start(&engine->loop, &engine->header, &visit->alarm);
	update(visit);
}
