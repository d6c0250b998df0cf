/* Tunnels: the hello that decides, and then bytes. See engine.h. */
#include "gateway/engine.h"

#include "gateway/proxy/tls_hello.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	if (visit->input.max < TLS_HELLO_MOST)
		visit->input.max = TLS_HELLO_MOST;
	/* On a port of its own a server may speak first (SSH does): a client that waits is let through. */
	event_loop_alarm_start(&engine->loop, visit->free_port ? &engine->quiet : &engine->header,
			       &visit->alarm);
}

static bool let_through(struct visit *visit)
{
	struct engine *engine = visit->engine;
	size_t size = visit->input.used;

	visit->stage = STAGE_TUNNEL;
	event_loop_alarm_start(&engine->loop, &engine->idle, &visit->alarm);
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
	struct rule_target named;
	struct error why;

	return rule_target_parse(name, visit->target.port, &named, &why) == 0 &&
	       strcmp(named.host, visit->target.host) == 0;
}

static bool refuse_hello(struct visit *visit, const char *reason)
{
	refuse(visit, 403, &visit->target, HOST_TABLE_REFUSED_HOST, "", "%s", reason);
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
	switch (tls_hello_read((const uint8_t *)visit->input.data, visit->input.used, name)) {
	case TLS_HELLO_MORE:
		/* It has begun; from now on it has the time of a head, and no more. */
		if (visit->free_port && visit->scanned == 0)
			event_loop_alarm_start(&engine->loop, &engine->header, &visit->alarm);
		visit->scanned = visit->input.used;
		return false;
	case TLS_HELLO_NAMED:
		if (same_name(visit, name))
			return let_through(visit);
		refuse(visit, 403, &visit->target, HOST_TABLE_REFUSED_HOST, "",
		       "was sent a TLS hello for another host (%.200s)", name);
		return false;
	case TLS_HELLO_UNNAMED:
		if (visit->target.address.family)
			return let_through(visit);
		return refuse_hello(visit, "was sent a TLS hello without a name (SNI)");
	case TLS_HELLO_FOREIGN:
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

/* Takes what is left in the pipe back into memory, for the other side to take later. */
static int keep_rest(struct side *to, size_t left)
{
	struct engine *engine = to->visit->engine;
	int result = 0;

	while (left > 0) {
		ssize_t n = read(engine->pipe[0], engine->scratch,
				 left < ENGINE_SCRATCH ? left : ENGINE_SCRATCH);

		if (n <= 0)
			abort(); /* others would get these bytes */
		left -= (size_t)n;
		if (result == 0)
			result = side_send(to, engine->scratch, (size_t)n);
	}
	return result;
}

/*
 * Many bytes go through a pipe, in which the kernel passes on pages instead of copying them twice (measured: half the
 * CPU time). There is one pipe for all, because it is empty again before anybody else's turn. Returns as
 * side_receive() does; *ret_gone: the other side is.
 */
static ssize_t pour(struct side *from, struct side *to, bool *ret_gone)
{
	const unsigned int flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
	struct engine *engine = from->visit->engine;
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

/* Passes on what there is, once. Returns how much; 0: that is all for now; -1: the visit is over. */
static ssize_t carry(struct visit *visit, struct side *from, struct side *to)
{
	enum { MUCH = 32 << 10 };
	struct engine *engine = visit->engine;
	const struct caps *caps = &engine->config.caps;
	bool inwards = from == &visit->server;
	/* With a cap, bytes are counted before they are passed on. */
	bool poured = from->bulk && !caps->bytes_in && !caps->bytes_out &&
		      engine->kept <= ENGINE_KEPT;
	bool gone = false;
	ssize_t n = poured ? pour(from, to, &gone) : side_receive(from, ENGINE_SCRATCH);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0) {
		visit_reset(visit);
		return -1;
	}
	if (n == 0) {
		from->ended = true;
		return 0;
	}
	from->bulk = n >= MUCH;
	event_loop_alarm_start(&engine->loop, &engine->idle, &visit->alarm);
	if (!(inwards ? visit_count_in(visit, (size_t)n) : visit_count_out(visit, (size_t)n)))
		return -1;
	if (!poured)
		gone = side_send(to, engine->scratch, (size_t)n) < 0;
	if (gone) {
		visit_reset(visit);
		return -1;
	}
	return n;
}

void tunnel_move(struct visit *visit, struct side *from, struct side *to)
{
	enum { ROUNDS = 4 }; /* then it is somebody else's turn */
	ssize_t n = ENGINE_SCRATCH;

	/* Less than there is room for was all there is: nobody need be asked once more. */
	for (int i = 0; i < ROUNDS && n == ENGINE_SCRATCH && !from->ended && !to->kept; i++)
		n = carry(visit, from, to);
	if (n >= 0)
		pass_end(visit, from, to);
}
