/* Sets up the gateway, and serves its owner and its listening sockets: see server.h. */
#include "gateway/server.h"

#include "gateway/proxy/connection.h"
#include "gateway/proxy/route.h"
#include "util/text/base64.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	QUIET_MS = 300,       /* after this, assume that a silent client waits for the server */
	HELD_MS = 500,        /* time for the owner to find the process */
	LINGER_MS = 2000,     /* time for a client to read its refusal */
	STAGGER_MS = 250,     /* between attempts to connect to two addresses */
	KEEP_MS = 60000,      /* between two requests on one connection */
	PACE_MS = 5,          /* between two checks of a replayed tape */
	PIPE_BYTES = 1 << 20, /* partly filled pages count as whole ones */
	BACKLOG = 64,         /* connections accepted in one go */
};

/* Missing in headers older than those of Debian 12. */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static uint64_t settle(void *context)
{
	struct engine *engine = context;

	uint64_t reels = reel_settle(engine);
	uint64_t resolver = resolver_settle(engine->resolver);

	return reels < resolver ? reels : resolver;
}

static bool room_for_more(const struct engine *engine)
{
	return engine->connection_count < engine->config.caps.connections + ENGINE_SPARE;
}

static void listener_ready(struct event_loop_source *source, uint32_t events)
{
	struct engine_listener *listener = EVENT_LOOP_OWNER(source, struct engine_listener, source);
	struct engine *engine = listener->engine;

	(void)events;
	for (int i = 0; i < BACKLOG; i++) {
		struct sockaddr_storage peer = { 0 };
		socklen_t size = sizeof peer;
		int fd;

		if (!room_for_more(engine)) {
			event_loop_watch(&engine->loop, source, 0);
			return;
		}
		fd = accept4(source->fd, (struct sockaddr *)&peer, &size,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
			event_loop_watch(&engine->loop, source, 0); /* until a connection ends */
			return;
		}
		if (fd < 0)
			return;
		connection_begin(engine, listener, fd, &peer);
	}
}

/* Returns true if the socket belongs to this process's network namespace, or if the kernel
 * cannot tell. */
static bool is_own_network(int fd)
{
	int mine = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t theirs_id = 0;
	uint64_t mine_id = 0;
	socklen_t size = sizeof mine_id;
	bool known = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &theirs_id, &size) == 0 &&
		     getsockopt(mine, SOL_SOCKET, SO_NETNS_COOKIE, &mine_id, &size) == 0;

	if (mine >= 0)
		close(mine);
	return !known || theirs_id == mine_id;
}

/* Accepts connections on this socket and takes ownership. Returns 0, or -1 if it cannot be used. */
static int add_listener(struct engine *engine, int fd)
{
	struct engine_listener *listener = &engine->listeners[engine->listener_count];
	int flags = fcntl(fd, F_GETFL);

	if (engine->listener_count == OWNER_PROTOCOL_LISTENERS || flags < 0 ||
	    fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		close(fd);
		return -1;
	}
	*listener = (struct engine_listener){ .source = { .fd = fd, .ready = listener_ready },
					      .engine = engine,
					      .own = is_own_network(fd) };
	engine->listener_count++;
	event_loop_watch(&engine->loop, &listener->source, EPOLLIN);
	return 0;
}

static void owner_ready(struct event_loop_source *source, uint32_t events)
{
	struct engine *engine = EVENT_LOOP_OWNER(source, struct engine, owner);

	(void)events;
	for (;;) {
		struct owner_protocol_message message;
		int fds[2];
		int got = owner_protocol_take(source->fd, OWNER_PROTOCOL_GATEWAY,
					      &engine->owner_state, &message, fds);

		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) { /* gone, or sent an illegal message */
			engine->loop.over = true;
			return;
		}
		if (message.type == OWNER_PROTOCOL_LISTEN)
			add_listener(engine, fds[0]);
		else if (message.type == OWNER_PROTOCOL_ANSWER)
			connection_refusal_release(engine, message.id);
		else if (message.type == OWNER_PROTOCOL_GRANT)
			budget_granted(&engine->budget, &message);
		else if (message.type == OWNER_PROTOCOL_CLOSE)
			budget_close(&engine->budget);
	}
}

static void write_credential(struct engine *engine)
{
	AUTO_BUFFER struct buffer encoded = BUFFER_INIT(sizeof engine->credential - 1);
	char text[64];
	int size = snprintf(text, sizeof text, "ringfence:%s", engine->config.token);

	base64_add(&encoded, text, (size_t)size);
	snprintf(engine->credential, sizeof engine->credential, "%s", buffer_text(&encoded));
}

static void init_upstreams(struct engine *engine)
{
	engine->ways = (struct upstream_ways){ .loop = &engine->loop,
					       .connecting = &engine->connecting,
					       .stagger = &engine->stagger,
					       .keep = &engine->keep,
					       .resolver = engine->resolver,
					       .models = &engine->config.models };
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		engine->upstreams[i].ways = &engine->ways;
		engine->upstreams[i].provider = &engine->config.models.providers[i];
	}
}

int server_init(struct engine *engine, int owner, const struct budget_spending *spending,
		struct error *err)
{
	const struct caps *caps = &engine->config.caps;
	struct event_loop *loop = &engine->loop;

	if (event_loop_init(loop, settle, engine, err) < 0 ||
	    route_open(&engine->routes, err) < 0 || resolver_new(loop, &engine->resolver, err) < 0)
		return -1;
	event_loop_add_delay(loop, &engine->header, caps->header_ms);
	event_loop_add_delay(loop, &engine->body, caps->body_ms);
	event_loop_add_delay(loop, &engine->connecting, caps->connect_ms);
	event_loop_add_delay(loop, &engine->idle, caps->idle_ms);
	event_loop_add_delay(loop, &engine->keep,
			     caps->idle_ms < KEEP_MS ? caps->idle_ms : KEEP_MS);
	event_loop_add_delay(loop, &engine->quiet, QUIET_MS);
	event_loop_add_delay(loop, &engine->held, HELD_MS);
	event_loop_add_delay(loop, &engine->linger, LINGER_MS);
	event_loop_add_delay(loop, &engine->stagger, STAGGER_MS);
	event_loop_add_delay(loop, &engine->pace, PACE_MS);
	event_loop_add_delay(loop, &engine->runaway_hold, RUNAWAY_HOLD_MS);
	if (pipe2(engine->pipe, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");
	/* If the pipe stays smaller, less data passes at a time. */
	fcntl(engine->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	write_credential(engine);
	budget_init(&engine->budget, loop, owner, spending);
	init_upstreams(engine);
	engine->out =
		BUFFER_INIT(3 * ENGINE_SCRATCH); /* data added between two checks, plus framing */
	engine->owner = (struct event_loop_source){ .fd = owner, .ready = owner_ready };
	event_loop_watch(loop, &engine->owner, EPOLLIN);
	return 0;
}
