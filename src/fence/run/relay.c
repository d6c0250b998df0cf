/* Relays: see relay.h. */
#include "fence/run/relay.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* One direction: bytes read from one side and not yet written to the other. */
struct flow {
	char bytes[32768];
	size_t from, to;
	bool ended; /* end of file on the reading side */
	bool shut;  /* the writing side has been shut down */
};

struct connection {
	int side[2];
	struct flow flow[2]; /* flow[i] goes from side[i] to the other */
};

struct listener {
	int fd;
	struct sockaddr_un target;
};

struct relay {
	struct listener listeners[RELAY_LISTENERS];
	size_t listener_count;
	size_t watched_listeners; /* as of relay_watch(); more may be added before relay_serve() */
	struct connection *connections[RELAY_CONNECTIONS];
	size_t connection_count;
};

struct relay *relay_new(void)
{
	return mem_zero(sizeof(struct relay));
}

static void connection_free(struct connection *connection)
{
	fd_close(&connection->side[0]);
	fd_close(&connection->side[1]);
	free(connection);
}

void relay_free(struct relay *relay)
{
	if (!relay)
		return;
	for (size_t i = 0; i < relay->listener_count; i++)
		fd_close(&relay->listeners[i].fd);
	for (size_t i = 0; i < relay->connection_count; i++)
		connection_free(relay->connections[i]);
	free(relay);
}

int relay_add_listener(struct relay *relay, int listener, const char *path, struct error *err)
{
	AUTO_FD owned = listener;
	struct listener *entry = &relay->listeners[relay->listener_count];

	if (relay->listener_count == RELAY_LISTENERS)
		return error_set(err, "too many --listen options: the maximum is %d",
				 RELAY_LISTENERS);
	if (strlen(path) >= sizeof entry->target.sun_path)
		return error_set(err, "socket path '%s' is too long: the maximum is %zu bytes",
				 path, sizeof entry->target.sun_path - 1);
	entry->target.sun_family = AF_UNIX;
	memcpy(entry->target.sun_path, path, strlen(path) + 1);
	fcntl(owned, F_SETFL, fcntl(owned, F_GETFL) | O_NONBLOCK);
	entry->fd = fd_steal(&owned);
	relay->listener_count++;
	return 0;
}

size_t relay_watch(struct relay *relay, struct pollfd *watched)
{
	size_t count = 0;

	relay->watched_listeners = relay->listener_count;
	for (size_t i = 0; i < relay->listener_count; i++)
		watched[count++] = (struct pollfd){
			.fd = relay->connection_count < RELAY_CONNECTIONS ? relay->listeners[i].fd
									  : -1,
			.events = POLLIN,
		};
	for (size_t i = 0; i < relay->connection_count; i++) {
		const struct connection *connection = relay->connections[i];

		for (int side = 0; side < 2; side++) {
			const struct flow *out = &connection->flow[side];
			const struct flow *in = &connection->flow[!side];
			short events = 0;

			if (!out->ended && out->to < sizeof out->bytes)
				events |= POLLIN;
			if (in->to > in->from)
				events |= POLLOUT;
			watched[count++] = (struct pollfd){ .fd = events ? connection->side[side]
									 : -1,
							    .events = events };
		}
	}
	return count;
}

/* The receiver has stopped reading. Its own bytes are still relayed. */
static void stop_flow(struct connection *connection, int side)
{
	struct flow *flow = &connection->flow[side];

	shutdown(connection->side[side], SHUT_RD);
	flow->from = flow->to = 0;
	flow->ended = flow->shut = true;
}

/* Moves as many bytes as possible in one direction. Returns false when the connection is finished
 * or broken. */
static bool pump(struct connection *connection, int side)
{
	struct flow *flow = &connection->flow[side];
	ssize_t n;

	if (!flow->ended && flow->to < sizeof flow->bytes) {
		n = read(connection->side[side], flow->bytes + flow->to,
			 sizeof flow->bytes - flow->to);
		if (n == 0)
			flow->ended = true;
		else if (n > 0)
			flow->to += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return false;
	}
	if (flow->to > flow->from) {
		n = send(connection->side[!side], flow->bytes + flow->from, flow->to - flow->from,
			 MSG_NOSIGNAL);
		if (n > 0)
			flow->from += (size_t)n;
		else if (n < 0 && errno == EPIPE)
			stop_flow(connection, side);
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
	}
	if (flow->from == flow->to) {
		flow->from = flow->to = 0;
		if (flow->ended && !flow->shut) {
			shutdown(connection->side[!side], SHUT_WR);
			flow->shut = true;
		}
	}
	return !(connection->flow[0].shut && connection->flow[1].shut);
}

static void accept_one(struct relay *relay, const struct listener *listener)
{
	AUTO_FD client = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	AUTO_FD server = -1;

	if (client < 0)
		return;
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server < 0 || connect(server, (const struct sockaddr *)&listener->target,
				  sizeof listener->target) < 0)
		return; /* closes the client's connection */

	struct connection *connection = mem_zero(sizeof *connection);

	connection->side[0] = fd_steal(&client);
	connection->side[1] = fd_steal(&server);
	relay->connections[relay->connection_count++] = connection;
}

void relay_serve(struct relay *relay, const struct pollfd *watched, size_t count)
{
	size_t listeners = relay->watched_listeners;
	size_t kept = 0;
	size_t served = (count - listeners) / 2;

	for (size_t i = 0; i < served; i++) {
		struct connection *connection = relay->connections[i];
		const struct pollfd *sides = &watched[listeners + 2 * i];
		bool alive = true;

		if (sides[0].revents || sides[1].revents)
			alive = pump(connection, 0) && pump(connection, 1);
		if (alive)
			relay->connections[kept++] = connection;
		else
			connection_free(connection);
	}
	relay->connection_count = kept;
	for (size_t i = 0; i < listeners; i++)
		if (watched[i].revents && relay->connection_count < RELAY_CONNECTIONS)
			accept_one(relay, &relay->listeners[i]);
}
