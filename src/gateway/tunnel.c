/* Tunnels: the hello that decides, and then bytes. See engine.h. */
#include "gateway/engine.h"

#include "gateway/hello.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void tunnel_open(struct visit *visit)
{
	struct engine *engine = visit->engine;
	uint8_t reply[SOCKS_REPLY];
	int result;

	if (visit->socks) {
		socks_write_reply(SOCKS_DONE, reply);
		result = side_send(&visit->client, reply, sizeof reply);
	} else {
		result = side_say(&visit->client, "HTTP/1.1 200 Connection established\r\n\r\n");
	}
	if (result < 0) {
		visit_end(visit);
		return;
	}
	visit->open = true;
	visit->stage = STAGE_HELLO;
	if (visit->input.max < HELLO_MOST)
		visit->input.max = HELLO_MOST;
	/* On a port of its own a server may speak first (SSH does): a client that waits is let through. */
	alarm_start(&engine->loop, visit->free_port ? &engine->quiet : &engine->header,
		    &visit->alarm);
}

static bool let_through(struct visit *visit)
{
	struct engine *engine = visit->engine;
	size_t size = visit->input.used;

	visit->stage = STAGE_TUNNEL;
	alarm_start(&engine->loop, &engine->idle, &visit->alarm);
	if (size == 0)
		return false;
	if (!visit_count_out(visit, size))
		return false;
	if (side_send(&visit->server, visit->input.data, size) < 0) {
		visit_reset(visit);
		return false;
	}
	visit_consume(visit, size);
	return false;
}

void tunnel_quiet(struct visit *visit)
{
	(void)let_through(visit);
}

static bool same_name(const struct visit *visit, const char *name)
{
	struct gateway_target named;
	struct error why;

	return gateway_target_parse(name, visit->target.port, &named, &why) == 0 &&
	       strcmp(named.host, visit->target.host) == 0;
}

static bool refuse_hello(struct visit *visit, const char *reason)
{
	refuse(visit, 403, &visit->target, TABLE_REFUSED_HOST, "", "%s", reason);
	return false;
}

static bool take_foreign(struct visit *visit)
{
	if (visit->free_port)
		return let_through(visit);
	if (visit->target.port != 80)
		return refuse_hello(visit, "was sent something that is not TLS");
	/* Plain HTTP through a tunnel, as some clients do it: its requests are judged like others. */
	visit->within = true;
	visit->stage = STAGE_HEAD;
	visit->input.max = visit->engine->config.caps.header_bytes;
	if (visit->input.used > visit->input.max)
		return refuse_hello(visit, "was sent a head that is too long");
	return true;
}

bool tunnel_hello(struct visit *visit)
{
	struct engine *engine = visit->engine;
	char name[GATEWAY_HOST];

	if (visit->input.used == 0)
		return false;
	visit->tls = visit->input.data[0] == 22;
	switch (hello_read((const uint8_t *)visit->input.data, visit->input.used, name)) {
	case HELLO_MORE:
		/* It has begun; from now on it has the time of a head, and no more. */
		if (visit->free_port && visit->scanned == 0)
			alarm_start(&engine->loop, &engine->header, &visit->alarm);
		visit->scanned = visit->input.used;
		return false;
	case HELLO_NAMED:
		if (same_name(visit, name))
			return let_through(visit);
		refuse(visit, 403, &visit->target, TABLE_REFUSED_HOST, "",
		       "was sent a TLS hello for another host (%.200s)", name);
		return false;
	case HELLO_UNNAMED:
		if (visit->target.address.family)
			return let_through(visit);
		return refuse_hello(visit, "was sent a TLS hello without a name (SNI)");
	case HELLO_FOREIGN:
		return take_foreign(visit);
	default:
		return refuse_hello(visit, "was sent a TLS hello that cannot be read");
	}
}

/* The other side has had all of it: say that it is the end. */
static void pass_end(struct visit *visit, const struct side *from, struct side *to)
{
	if (from->ended && !to->kept && !to->shut) {
		shutdown(to->source.fd, SHUT_WR);
		to->shut = true;
	}
	if (visit->client.shut && visit->server.shut)
		visit_end(visit);
}

void tunnel_move(struct visit *visit, struct side *from, struct side *to)
{
	enum { ROUNDS = 4 }; /* then it is somebody else's turn */
	struct engine *engine = visit->engine;
	bool inwards = from == &visit->server;

	for (int i = 0; i < ROUNDS && !from->ended && !to->kept; i++) {
		ssize_t n = side_receive(from, ENGINE_SCRATCH);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			visit_reset(visit);
			return;
		}
		if (n == 0) {
			from->ended = true;
			break;
		}
		alarm_start(&engine->loop, &engine->idle, &visit->alarm);
		if (!(inwards ? visit_count_in(visit, (size_t)n)
			      : visit_count_out(visit, (size_t)n)))
			return;
		if (side_send(to, engine->scratch, (size_t)n) < 0) {
			visit_reset(visit);
			return;
		}
		if ((size_t)n < ENGINE_SCRATCH)
			break;
	}
	pass_end(visit, from, to);
}
