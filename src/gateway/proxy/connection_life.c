/* The life of a connection, and functions shared by its stages: see connection.h. */
#include "gateway/proxy/connection.h"

#include "gateway/model/model_request.h"
#include "util/mem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void update(struct connection *connection);

/* --- sides */

static void forget_kept(struct connection_side *side)
{
	side->connection->engine->kept -= side->kept_size;
	free(side->kept);
	side->kept = NULL;
	side->kept_at = side->kept_size = 0;
}

static int side_flush(struct connection_side *side)
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

int connection_side_send(struct connection_side *side, const void *bytes, size_t size)
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
		side->connection->engine->kept += size - sent;
	}
	return 0;
}

int connection_side_say(struct connection_side *side, const char *text)
{
	return connection_side_send(side, text, strlen(text));
}

ssize_t connection_side_receive(struct connection_side *side, size_t most)
{
	struct engine *engine = side->connection->engine;
	size_t room = engine->kept > ENGINE_KEPT ? ENGINE_SIP : ENGINE_SCRATCH;
	ssize_t n;

	/* Each side keeps at most one read's worth of data, so even many slow readers use little
	 * memory. */
	do
		n = recv(side->source.fd, engine->scratch, most < room ? most : room, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

static void side_close(struct connection_side *side)
{
	event_loop_close(&side->connection->engine->loop, &side->source);
	forget_kept(side);
}

/* --- the end */

void connection_drop_server(struct connection *connection)
{
	side_close(&connection->server);
	connection->server.ended = connection->server.shut = false;
	if (connection->counted)
		connection->engine->active[connection->row - connection->engine->table->rows]--;
	connection->counted = false;
}

/* Cancels the resolver's query and the connection attempt. */
static void stop_dialling(struct connection *connection)
{
	if (connection->question)
		resolver_forget(connection->question);
	dial_stop(connection->dial);
	connection->question = NULL;
	connection->dial = NULL;
}

void connection_end(struct connection *connection)
{
	struct engine *engine = connection->engine;

	if (connection->stage == CONNECTION_STAGE_OVER)
		return;
	if (connection->stage == CONNECTION_STAGE_HELD)
		engine->held_count--;
	connection->stage = CONNECTION_STAGE_OVER;
	stop_dialling(connection);
	event_loop_alarm_stop(&connection->alarm);
	connection_drop_server(connection);
	side_close(&connection->client);
	buffer_release(&connection->input);
	connection_exchange_free(connection->exchange);
	model_request_free(connection->request);
	connection->request = NULL;
	free(connection->refusal);
	connection->exchange = NULL;
	connection->refusal = NULL;
	if (connection->prev)
		connection->prev->next = connection->next;
	else
		engine->connections = connection->next;
	if (connection->next)
		connection->next->prev = connection->prev;
	engine->connection_count--;
	event_loop_free_later(&engine->loop, connection);
	engine_admit(engine);
}

void connection_reset(struct connection *connection)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (connection->stage == CONNECTION_STAGE_OVER)
		return;
	setsockopt(connection->client.source.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	if (connection->server.source.fd >= 0)
		setsockopt(connection->server.source.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	connection_end(connection);
}

static void shut_down(struct connection *connection)
{
	if (!connection->client.kept && !connection->client.shut) {
		shutdown(connection->client.source.fd, SHUT_WR);
		connection->client.shut = true;
	}
}

/* Closing a socket with unread bytes sends a reset, which destroys the response: read on
 * briefly. */
void connection_finish(struct connection *connection)
{
	struct engine *engine = connection->engine;

	if (connection->stage == CONNECTION_STAGE_OVER)
		return;
	stop_dialling(connection);
	connection_drop_server(connection);
	buffer_release(&connection->input);
	connection->stage = CONNECTION_STAGE_LINGER;
	event_loop_alarm_start(&engine->loop, &engine->linger, &connection->alarm);
	shut_down(connection);
	update(connection);
}

static void linger(struct connection *connection)
{
	enum { ROUNDS = 4 }; /* then other connections get a turn */
	ssize_t n = 1;

	shut_down(connection);
	for (int i = 0; i < ROUNDS && n > 0; i++)
		n = connection_side_receive(&connection->client, ENGINE_SCRATCH);
	if ((n == 0 && !connection->client.kept) || (n < 0 && errno != EAGAIN))
		connection_end(connection);
	else if (n == 0)
		connection->client.ended = true;
}

/* --- events to wait for */

static bool reads_input(const struct connection *connection)
{
	switch (connection->stage) {
	case CONNECTION_STAGE_FIRST:
	case CONNECTION_STAGE_HEAD:
	case CONNECTION_STAGE_METHODS:
	case CONNECTION_STAGE_PASSWORD:
	case CONNECTION_STAGE_REQUEST:
	case CONNECTION_STAGE_HELLO:
		return true;
	default:
		return false;
	}
}

static uint32_t client_events(const struct connection *connection)
{
	uint32_t events = connection->client.kept ? (uint32_t)EPOLLOUT : 0U;
	bool wanted = !connection->client.ended;

	if (reads_input(connection))
		wanted = wanted && !connection->client.kept;
	else if (connection->stage == CONNECTION_STAGE_TUNNEL)
		wanted = wanted && !connection->server.kept;
	else if (connection->stage == CONNECTION_STAGE_EXCHANGE)
		wanted = wanted && connection_exchange_wants_client(connection);
	else if (connection->stage == CONNECTION_STAGE_MODEL)
		wanted = wanted && model_request_wants_client(connection);
	else if (connection->stage != CONNECTION_STAGE_LINGER)
		wanted = false;
	/* Notice a client that has gone: cancelling its request saves money. */
	if (connection->stage == CONNECTION_STAGE_MODEL)
		events |= (uint32_t)EPOLLRDHUP;
	if (wanted)
		events |= (uint32_t)EPOLLIN;
	/* Notice a client that has gone even while nothing is read from it. */
	if (!events && connection->stage != CONNECTION_STAGE_TUNNEL)
		events = (uint32_t)EPOLLERR;
	return events;
}

static uint32_t server_events(const struct connection *connection)
{
	uint32_t events = connection->server.kept ? (uint32_t)EPOLLOUT : 0U;
	bool wanted = !connection->server.ended && !connection->client.kept;

	if (connection->stage == CONNECTION_STAGE_HEAD)
		wanted = !connection->server.ended;
	else if (connection->stage != CONNECTION_STAGE_TUNNEL &&
		 connection->stage != CONNECTION_STAGE_EXCHANGE)
		wanted = false;
	if (wanted)
		events |= (uint32_t)EPOLLIN;
	if (!events && connection->stage == CONNECTION_STAGE_HELLO)
		events = (uint32_t)EPOLLERR;
	return events;
}

static void update(struct connection *connection)
{
	struct event_loop *loop = &connection->engine->loop;

	if (connection->stage == CONNECTION_STAGE_OVER)
		return;
	event_loop_watch(loop, &connection->client.source, client_events(connection));
	if (connection->server.source.fd >= 0)
		event_loop_watch(loop, &connection->server.source, server_events(connection));
	if (connection->stage == CONNECTION_STAGE_MODEL)
		model_request_update(connection);
}

/* --- events */

void connection_consume(struct connection *connection, size_t size)
{
	struct buffer *input = &connection->input;

	connection->scanned = 0;
	if (size == input->used) {
		buffer_release(input); /* idle connections use no memory */
		return;
	}
	memmove(input->data, input->data + size, input->used - size);
	input->used -= size;
}

void connection_advance(struct connection *connection)
{
	bool more = true;

	while (more) {
		switch (connection->stage) {
		case CONNECTION_STAGE_FIRST:
			more = connection_handshake_first(connection);
			break;
		case CONNECTION_STAGE_HEAD:
			more = connection_handshake_head(connection);
			break;
		case CONNECTION_STAGE_METHODS:
			more = connection_handshake_methods(connection);
			break;
		case CONNECTION_STAGE_PASSWORD:
			more = connection_handshake_password(connection);
			break;
		case CONNECTION_STAGE_REQUEST:
			more = connection_handshake_request(connection);
			break;
		case CONNECTION_STAGE_HELLO:
			more = connection_tunnel_hello(connection);
			break;
		default:
			more = false;
		}
	}
	update(connection);
}

static void read_input(struct connection *connection)
{
	struct engine *engine = connection->engine;
	size_t room = connection->input.max - connection->input.used;
	ssize_t n = connection_side_receive(&connection->client, room);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		/* The client closed the connection before or within its request. */
		connection_end(connection);
		return;
	}
	/* The first byte of a further request starts the time limit for its head. */
	if (connection->input.used == 0 && connection->stage == CONNECTION_STAGE_HEAD)
		event_loop_alarm_start(&engine->loop, &engine->header, &connection->alarm);
	buffer_add(&connection->input, engine->scratch, (size_t)n);
	connection_advance(connection);
}

static void client_ready(struct event_loop_source *source, uint32_t events)
{
	struct connection *connection = EVENT_LOOP_OWNER(source, struct connection, client.source);

	if (events & EPOLLOUT && side_flush(&connection->client) < 0) {
		connection_reset(connection);
		return;
	}
	if (connection->stage == CONNECTION_STAGE_MODEL && events & EPOLLOUT)
		model_request_resume(connection);
	if (connection->stage == CONNECTION_STAGE_MODEL && events & EPOLLRDHUP &&
	    !model_request_wants_client(connection)) {
		connection_reset(connection);
		return;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		if (connection->stage == CONNECTION_STAGE_TUNNEL)
			connection_tunnel_move(connection, &connection->client,
					       &connection->server);
		else if (connection->stage == CONNECTION_STAGE_LINGER)
			linger(connection);
		else if (connection->stage == CONNECTION_STAGE_EXCHANGE &&
			 connection_exchange_wants_client(connection))
			connection_exchange_from_client(connection);
		else if (connection->stage == CONNECTION_STAGE_MODEL &&
			 model_request_wants_client(connection))
			model_request_from_client(connection);
		else if (reads_input(connection) && !connection->client.kept)
			read_input(connection);
		else if (events & (EPOLLERR | EPOLLHUP))
			connection_reset(connection);
	} else if (connection->stage == CONNECTION_STAGE_LINGER) {
		linger(connection);
	} else if (connection->stage == CONNECTION_STAGE_TUNNEL && connection->server.ended &&
		   !connection->client.kept) {
		connection_tunnel_move(connection, &connection->server, &connection->client);
	}
	/* A client that has read its response may have sent its next request already. */
	if (connection->stage != CONNECTION_STAGE_OVER)
		connection_advance(connection);
}

static void server_ready(struct event_loop_source *source, uint32_t events)
{
	struct connection *connection = EVENT_LOOP_OWNER(source, struct connection, server.source);

	if (events & EPOLLOUT && side_flush(&connection->server) < 0) {
		/* A response may still arrive. */
		if (connection->stage != CONNECTION_STAGE_EXCHANGE) {
			connection_reset(connection);
			return;
		}
		forget_kept(&connection->server);
		events |= EPOLLIN;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		if (connection->stage == CONNECTION_STAGE_TUNNEL)
			connection_tunnel_move(connection, &connection->server,
					       &connection->client);
		else if (connection->stage == CONNECTION_STAGE_EXCHANGE)
			connection_exchange_from_server(connection);
		else if (connection->stage == CONNECTION_STAGE_HEAD && !connection->within)
			connection_drop_server(
				connection); /* it was only kept for the next request */
		else
			connection_end(connection);
	} else if (connection->stage == CONNECTION_STAGE_TUNNEL && connection->client.ended &&
		   !connection->server.kept) {
		connection_tunnel_move(connection, &connection->client, &connection->server);
	} else if (connection->stage == CONNECTION_STAGE_EXCHANGE &&
		   connection_exchange_wants_client(connection)) {
		connection_exchange_from_client(connection);
	}
	if (connection->stage != CONNECTION_STAGE_OVER)
		connection_advance(connection);
}

static void on_alarm(struct event_loop_alarm *alarm)
{
	struct connection *connection = EVENT_LOOP_OWNER(alarm, struct connection, alarm);
	const struct caps *caps = &connection->engine->config.caps;

	switch (connection->stage) {
	case CONNECTION_STAGE_HEAD:
		if (connection->input.used == 0) {
			connection_end(connection); /* no further request */
			return;
		}
		connection_access_fail(
			connection, 408, SOCKS_FAILED,
			"the head of the request was not complete within %u milliseconds",
			(unsigned int)caps->header_ms);
		break;
	case CONNECTION_STAGE_DIAL:
		connection_access_fail(connection, 504, SOCKS_UNREACHABLE,
				       "%s did not respond within %u milliseconds",
				       connection->target.host, (unsigned int)caps->connect_ms);
		break;
	case CONNECTION_STAGE_HELLO:
		if (connection->free_port && connection->input.used == 0) {
			connection_tunnel_quiet(connection);
			break;
		}
		connection_end(connection);
		return;
	case CONNECTION_STAGE_HELD:
		connection_refusal_answer(connection);
		break;
	case CONNECTION_STAGE_MODEL:
		if (model_request_wants_client(connection)) {
			model_request_too_slow(connection);
			return;
		}
		connection_reset(connection);
		return;
	case CONNECTION_STAGE_EXCHANGE:
	case CONNECTION_STAGE_TUNNEL:
		connection_reset(
			connection); /* idle; a normal close would look like the end of the data */
		return;
	default:
		connection_end(connection);
		return;
	}
	update(connection);
}

void connection_use_server(struct connection *connection, int fd)
{
	connection->server.source.fd = fd;
	connection->server.source.events = 0;
	connection->server.ended = connection->server.shut = false;
}

static bool count(struct connection *connection, uint64_t *sum, uint64_t cap, size_t size,
		  const char *what)
{
	*sum += size;
	/* At the limit nothing more is read, and beyond it nothing is forwarded. */
	if (cap == 0 || *sum < cap || (*sum == cap && size > 0))
		return true;
	connection_refuse(connection, 403, &connection->target, HOST_TABLE_CAPPED, "",
			  "has reached the limit of %llu bytes %s", (unsigned long long)cap, what);
	return false;
}

bool connection_count_in(struct connection *connection, size_t size)
{
	return count(connection, &connection->row->bytes_in,
		     connection->engine->config.caps.bytes_in, size,
		     "from it (raise it with --net-in)");
}

bool connection_count_out(struct connection *connection, size_t size)
{
	return count(connection, &connection->row->bytes_out,
		     connection->engine->config.caps.bytes_out, size,
		     "to it (raise it with --net-out)");
}

void connection_begin(struct engine *engine, const struct engine_listener *listener, int fd,
		      const struct sockaddr_storage *peer)
{
	struct connection *connection = mem_zero(sizeof *connection);
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	connection->engine = engine;
	connection->client = (struct connection_side){
		.source = { .fd = fd, .ready = client_ready }, .connection = connection
	};
	connection->server = (struct connection_side){
		.source = { .fd = -1, .ready = server_ready }, .connection = connection
	};
	connection->alarm.ring = on_alarm;
	connection->input = BUFFER_INIT(engine->config.caps.header_bytes);
	connection->own = listener->own;
	connection->spare = engine->connection_count >= engine->config.caps.connections;
	/* The port is in the same place in both address families. */
	if (address_from((const struct sockaddr *)peer, &connection->peer) == 0)
		connection->peer_port = ntohs(((const struct sockaddr_in *)peer)->sin_port);
	connection->next = engine->connections;
	if (engine->connections)
		engine->connections->prev = connection;
	engine->connections = connection;
	engine->connection_count++;
	event_loop_alarm_start(&engine->loop, &engine->header, &connection->alarm);
	update(connection);
}
