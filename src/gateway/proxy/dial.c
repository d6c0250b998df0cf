/* Connects to one of several addresses: see dial.h. */
#include "gateway/proxy/dial.h"

#include "util/mem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct attempt {
	struct event_loop_source source;
	struct dial *dial;
};

struct dial {
	struct event_loop *loop;
	struct event_loop_delay *stagger;
	struct event_loop_alarm alarm;
	struct address addresses[DIAL_ADDRESSES];
	struct attempt attempts[DIAL_ADDRESSES];
	size_t count;
	size_t begun;
	size_t failed;
	int error; /* of the last failed attempt */
	uint16_t port;
	dial_fn *done;
	void *context;
};

static void finish(struct dial *dial, int fd, int error)
{
	dial_fn *done = dial->done;
	void *context = dial->context;

	dial_stop(dial);
	done(context, fd, error);
}

static void begin_next(struct dial *dial);

static void fail(struct dial *dial, int error)
{
	dial->error = error;
	dial->failed++;
	if (dial->failed == dial->count)
		finish(dial, -1, dial->error);
	else if (dial->failed == dial->begun)
		begin_next(dial);
}

static void ready(struct event_loop_source *source, uint32_t events)
{
	struct attempt *attempt = EVENT_LOOP_OWNER(source, struct attempt, source);
	struct dial *dial = attempt->dial;
	int error = 0;
	socklen_t size = sizeof error;

	(void)events;
	if (getsockopt(source->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error) {
		event_loop_close(dial->loop, source);
		fail(dial, error);
		return;
	}

	int fd = source->fd;

	event_loop_watch(dial->loop, source, 0);
	source->fd = -1;
	finish(dial, fd, 0);
}

static int connect_to(const struct address *address, uint16_t port)
{
	struct sockaddr_storage to;
	socklen_t size = address_to(address, port, &to);
	int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(fd, (const struct sockaddr *)&to, size) < 0 && errno != EINPROGRESS) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

/* Failures are also reported by the alarm, so that nobody is called back before dial_start()
 * returns. */
static void begin_next(struct dial *dial)
{
	struct attempt *attempt = &dial->attempts[dial->begun];

	attempt->source.fd = connect_to(&dial->addresses[dial->begun], dial->port);
	dial->begun++;
	if (attempt->source.fd >= 0) {
		event_loop_watch(dial->loop, &attempt->source, EPOLLOUT);
		event_loop_alarm_start(dial->loop, dial->stagger, &dial->alarm);
		return;
	}
	dial->error = errno;
	dial->failed++;
	if (dial->begun < dial->count)
		begin_next(dial);
	else
		event_loop_alarm_start(dial->loop, dial->stagger, &dial->alarm);
}

static void ring(struct event_loop_alarm *alarm)
{
	struct dial *dial = EVENT_LOOP_OWNER(alarm, struct dial, alarm);

	if (dial->failed == dial->count)
		finish(dial, -1, dial->error);
	else if (dial->begun < dial->count)
		begin_next(dial);
}

struct dial *dial_start(struct event_loop *loop, struct event_loop_delay *stagger,
			const struct address *addresses, size_t count, uint16_t port, dial_fn *done,
			void *context)
{
	struct dial *dial = mem_zero(sizeof *dial);

	dial->loop = loop;
	dial->stagger = stagger;
	dial->alarm.ring = ring;
	dial->count = count < DIAL_ADDRESSES ? count : DIAL_ADDRESSES;
	dial->port = port;
	dial->done = done;
	dial->context = context;
	memcpy(dial->addresses, addresses, dial->count * sizeof *addresses);
	for (size_t i = 0; i < DIAL_ADDRESSES; i++)
		dial->attempts[i] = (struct attempt){ { .fd = -1, .ready = ready }, dial };
	begin_next(dial);
	return dial;
}

void dial_stop(struct dial *dial)
{
	if (!dial)
		return;
	event_loop_alarm_stop(&dial->alarm);
	for (size_t i = 0; i < dial->begun; i++)
		event_loop_close(dial->loop, &dial->attempts[i].source);
	event_loop_free_later(dial->loop, dial);
}
