/* Tunnels: checks the TLS hello, then forwards bytes. See connection.h. */
#include "gateway/proxy/connection.h"

#include "gateway/proxy/tls_hello.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void connection_tunnel_open(struct connection *connection)
{
	struct engine *engine = connection->engine;
	uint8_t reply[SOCKS_REPLY];
	int result;

	if (connection->socks) {
		socks_write_reply(SOCKS_DONE, reply);
		result = connection_side_send(&connection->client, reply, sizeof reply);
	} else {
		result = connection_side_say(&connection->client,
					     "HTTP/1.1 200 Connection established\r\n\r\n");
	}
	if (result < 0) {
		connection_end(connection);
		return;
	}
	connection->open = true;
	connection->stage = CONNECTION_STAGE_HELLO;
	if (connection->input.max < TLS_HELLO_MOST)
		connection->input.max = TLS_HELLO_MOST;
	/* On a port of its own, the server may speak first, as in SSH: let a waiting client
	 * through. */
	event_loop_alarm_start(&engine->loop,
			       connection->free_port ? &engine->quiet : &engine->header,
			       &connection->alarm);
}

static bool let_through(struct connection *connection)
{
	struct engine *engine = connection->engine;
	size_t size = connection->input.used;

	connection->stage = CONNECTION_STAGE_TUNNEL;
	event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
	if (size == 0)
		return false;
	if (!connection_count_out(connection, size))
		return false;
	if (connection_side_send(&connection->server, connection->input.data, size) < 0) {
		connection_reset(connection);
		return false;
	}
	connection_consume(connection, size);
	return false;
}

void connection_tunnel_quiet(struct connection *connection)
{
	(void)let_through(connection);
}

static bool same_name(const struct connection *connection, const char *name)
{
	struct rule_target named;
	struct error why;

	return rule_target_parse(name, connection->target.port, &named, &why) == 0 &&
	       strcmp(named.host, connection->target.host) == 0;
}

static bool refuse_hello(struct connection *connection, const char *reason)
{
	connection_refuse(connection, 403, &connection->target, HOST_TABLE_REFUSED_HOST, "", "%s",
			  reason);
	return false;
}

static bool handle_plain(struct connection *connection)
{
	if (connection->free_port)
		return let_through(connection);
	if (connection->target.port != 80)
		return refuse_hello(connection, "was sent something that is not TLS");
	/* Some clients send plain HTTP through a tunnel; its requests are checked like any
	 * others. */
	connection->within = true;
	connection->stage = CONNECTION_STAGE_HEAD;
	connection->input.max = connection->engine->config.caps.header_bytes;
	if (connection->input.used > connection->input.max)
		return refuse_hello(connection, "was sent a head that is too long");
	return true;
}

bool connection_tunnel_hello(struct connection *connection)
{
	struct engine *engine = connection->engine;
	char name[GATEWAY_HOST];

	if (connection->input.used == 0)
		return false;
	connection->tls = connection->input.data[0] == 22;
	switch (tls_hello_read((const uint8_t *)connection->input.data, connection->input.used,
			       name)) {
	case TLS_HELLO_MORE:
		/* The client has begun; from now on the time limit for heads applies. */
		if (connection->free_port && connection->scanned == 0)
			event_loop_alarm_start(&engine->loop, &engine->header, &connection->alarm);
		connection->scanned = connection->input.used;
		return false;
	case TLS_HELLO_NAMED:
		if (same_name(connection, name))
			return let_through(connection);
		connection_refuse(connection, 403, &connection->target, HOST_TABLE_REFUSED_HOST, "",
				  "was sent a TLS hello for a different host (%.200s)", name);
		return false;
	case TLS_HELLO_UNNAMED:
		if (connection->target.address.family)
			return let_through(connection);
		return refuse_hello(connection, "was sent a TLS hello without a server name (SNI)");
	case TLS_HELLO_FOREIGN:
		return handle_plain(connection);
	default:
		return refuse_hello(connection, "was sent an invalid TLS hello");
	}
}

/* Everything was forwarded: pass on the end. */
static void pass_end(struct connection *connection, const struct connection_side *from,
		     struct connection_side *to)
{
	if (from->ended && !to->kept && !to->shut) {
		shutdown(to->source.fd, SHUT_WR);
		to->shut = true;
	}
	if (connection->client.shut && connection->server.shut)
		connection_end(connection);
}

/* Reads the rest out of the pipe into memory, to be sent later. */
static int keep_rest(struct connection_side *to, size_t left)
{
	struct engine *engine = to->connection->engine;
	int result = 0;

	while (left > 0) {
		ssize_t n = read(engine->pipe[0], engine->scratch,
				 left < ENGINE_SCRATCH ? left : ENGINE_SCRATCH);

		if (n <= 0)
			abort(); /* another connection would get these bytes */
		left -= (size_t)n;
		if (result == 0)
			result = connection_side_send(to, engine->scratch, (size_t)n);
	}
	return result;
}

/*
 * Forwards large amounts of data through a pipe, where the kernel moves pages instead of copying
 * them twice (measured: half the CPU time). One pipe serves all connections, because it is empty
 * again before this returns. Returns like connection_side_receive(); *ret_gone: the other side is
 * gone.
 */
static ssize_t splice_through(struct connection_side *from, struct connection_side *to,
			      bool *ret_gone)
{
	const unsigned int flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
	struct engine *engine = from->connection->engine;
	size_t left;
	ssize_t n;

	do
		n = splice(from->source.fd, NULL, engine->pipe[1], NULL, ENGINE_SCRATCH, flags);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n;
	left = (size_t)n;
	while (left > 0) {
		ssize_t sent = splice(engine->pipe[0], NULL, to->source.fd, NULL, left, flags);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			break;
		left -= (size_t)sent;
	}
	*ret_gone = keep_rest(to, left) < 0;
	return n;
}

/* Forwards what has arrived, once. Returns how much; 0 if that is all for now; -1 if the
 * connection has ended. */
static ssize_t forward(struct connection *connection, struct connection_side *from,
		       struct connection_side *to)
{
	enum { MUCH = 32 << 10 };
	struct engine *engine = connection->engine;
	const struct caps *caps = &engine->config.caps;
	bool inwards = from == &connection->server;
	/* With a cap, bytes must be counted before they are forwarded. */
	bool poured = from->bulk && !caps->bytes_in && !caps->bytes_out &&
		      engine->kept <= ENGINE_KEPT;
	bool gone = false;
	ssize_t n = poured ? splice_through(from, to, &gone)
			   : connection_side_receive(from, ENGINE_SCRATCH);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0) {
		connection_reset(connection);
		return -1;
	}
	if (n == 0) {
		from->ended = true;
		return 0;
	}
	from->bulk = n >= MUCH;
	event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
	if (!(inwards ? connection_count_in(connection, (size_t)n)
		      : connection_count_out(connection, (size_t)n)))
		return -1;
	if (!poured)
		gone = connection_side_send(to, engine->scratch, (size_t)n) < 0;
	if (gone) {
		connection_reset(connection);
		return -1;
	}
	return n;
}

void connection_tunnel_move(struct connection *connection, struct connection_side *from,
			    struct connection_side *to)
{
	enum { ROUNDS = 4 }; /* then other connections get a turn */
	ssize_t n = ENGINE_SCRATCH;

	/* A short read means that nothing more has arrived. */
	for (int i = 0; i < ROUNDS && n == ENGINE_SCRATCH && !from->ended && !to->kept; i++)
		n = forward(connection, from, to);
	if (n >= 0)
		pass_end(connection, from, to);
}
