/* Connections to providers: see upstream.h. */
#include "gateway/model/upstream.h"

#include "gateway/model/reel.h"
#include "gateway/owner/ledger.h"
#include "gateway/proxy/http.h"
#include "util/mem.h"
#include "util/text/base64.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROXY_HEAD = 8192 };

enum state { OPENING, ASKING_PROXY, SHAKING_HANDS, OPEN, KEPT, GONE };

struct upstream_link {
	struct event_loop_source source;
	struct event_loop_alarm alarm;
	struct upstream *upstream;
	struct upstream_link *next; /* in the list of kept connections */
	struct upstream_user user;
	enum state state;
	bool starting; /* its user does not have it yet */
	bool failed;   /* before that */
	struct resolver_question *question;
	struct dial *dial;
	struct tls_link *tls;
	struct reel *reel;                /* replaces the connection, or NULL */
	uint32_t read_wants, write_wants; /* events that TLS needs to continue, if unusual */
	struct buffer proxy;              /* the proxy's response, or the request to it */
	size_t asked;
	char wrong[320];
};

static void release(struct upstream_link *link)
{
	if (link->state == GONE)
		return;
	link->state = GONE;
	if (link->question)
		resolver_forget(link->question);
	dial_stop(link->dial);
	event_loop_alarm_stop(&link->alarm);
	tls_link_free(link->tls);
	reel_free(link->reel);
	buffer_release(&link->proxy);
	event_loop_close(link->upstream->ways->loop, &link->source);
	event_loop_free_later(link->upstream->ways->loop, link);
}

static void fail(struct upstream_link *link, const char *why)
{
	struct upstream_user user = link->user;
	char target[GATEWAY_TEXT];
	char text[LEDGER_ERROR];

	if (link->starting) {
		snprintf(link->wrong, sizeof link->wrong, "%.300s", why);
		link->failed = true;
		event_loop_alarm_start(link->upstream->ways->loop, link->upstream->ways->stagger,
				       &link->alarm);
		return;
	}
	rule_target_text(&link->upstream->provider->place.target, target);
	snprintf(text, sizeof text, "%.140s cannot be reached: %.140s", target, why);
	release(link);
	user.failed(user.context, text);
}

/* --- connecting */

static void opened(struct upstream_link *link)
{
	event_loop_alarm_stop(&link->alarm);
	buffer_release(&link->proxy);
	link->state = OPEN;
	event_loop_watch(link->upstream->ways->loop, &link->source, 0);
	link->user.open(link->user.context);
}

static void shake_hands(struct upstream_link *link)
{
	uint32_t events = 0;
	int result = tls_handshake(link->tls, &events);

	if (result == 1)
		opened(link);
	else if (result == TLS_AGAIN)
		event_loop_watch(link->upstream->ways->loop, &link->source, events);
	else
		fail(link, tls_wrong(link->tls));
}

static void begin_tls(struct upstream_link *link)
{
	const struct model_config_place *place = &link->upstream->provider->place;
	struct upstream_ways *ways = link->upstream->ways;
	struct error err;

	if (!place->tls) {
		opened(link);
		return;
	}
	if (!ways->tls && tls_new(ways->models->ca, &ways->tls, &err) < 0) {
		fail(link, err.text);
		return;
	}
	link->tls = tls_link_new(ways->tls, link->source.fd, place->target.host,
				 place->target.address.family != 0, &link->upstream->memory);
	link->state = SHAKING_HANDS;
	shake_hands(link);
}

static void ask_proxy(struct upstream_link *link)
{
	const struct model_config_place *proxy = &link->upstream->ways->models->proxy;
	char target[GATEWAY_TEXT];

	rule_target_text(&link->upstream->provider->place.target, target);
	buffer_printf(&link->proxy, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", target, target);
	if (proxy->credential[0]) {
		buffer_add_text(&link->proxy, "Proxy-Authorization: Basic ");
		base64_add(&link->proxy, proxy->credential, strlen(proxy->credential));
		buffer_add_text(&link->proxy, "\r\n");
	}
	buffer_add_text(&link->proxy, "\r\n");
	link->state = ASKING_PROXY;
	event_loop_watch(link->upstream->ways->loop, &link->source, EPOLLOUT);
}

static void write_proxy(struct upstream_link *link)
{
	ssize_t n = send(link->source.fd, link->proxy.data + link->asked,
			 link->proxy.used - link->asked, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		fail(link, "the proxy closed the connection");
		return;
	}
	link->asked += n > 0 ? (size_t)n : 0;
	if (link->asked < link->proxy.used)
		return;
	buffer_release(&link->proxy);
	link->asked = 0;
	event_loop_watch(link->upstream->ways->loop, &link->source, EPOLLIN);
}

/* Byte by byte, because data after the head is not the proxy's. It is a few hundred bytes, once. */
static void read_proxy(struct upstream_link *link)
{
	struct http_response response;
	ssize_t head = 0;
	char byte;

	while (head == 0) {
		ssize_t n = recv(link->source.fd, &byte, 1, 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0 || link->proxy.used == PROXY_HEAD) {
			fail(link, "the proxy sent an invalid response");
			return;
		}
		buffer_add(&link->proxy, &byte, 1);
		if (byte == '\n')
			head = http_head_size(link->proxy.data, link->proxy.used, 0);
	}
	if (head < 0 || http_response_read(link->proxy.data, (size_t)head, false, &response)) {
		fail(link, "the proxy sent an invalid response");
	} else if (response.status / 100 != 2) {
		char why[64];

		snprintf(why, sizeof why, "the proxy refused to connect (HTTP %u)",
			 response.status);
		fail(link, why);
	} else {
		begin_tls(link);
	}
}

static void connected(void *context, int fd, int error)
{
	struct upstream_link *link = context;

	link->dial = NULL;
	if (fd < 0) {
		fail(link, strerror(error));
		return;
	}
	link->source.fd = fd;
	link->source.events = 0;
	if (link->upstream->ways->models->proxy.set && link->upstream->provider->place.tls)
		ask_proxy(link);
	else
		begin_tls(link);
}

static const struct rule_target *first_stop(const struct upstream_link *link)
{
	const struct model_config_place *place = &link->upstream->provider->place;

	return link->upstream->ways->models->proxy.set && place->tls
		       ? &link->upstream->ways->models->proxy.target
		       : &place->target;
}

static void dial_to(struct upstream_link *link, const struct address *addresses, size_t count)
{
	link->dial = dial_start(link->upstream->ways->loop, link->upstream->ways->stagger,
				addresses, count, first_stop(link)->port, connected, link);
}

static void resolved(void *context, const struct resolver_answer *answer)
{
	struct upstream_link *link = context;

	link->question = NULL;
	if (answer->wrong)
		fail(link, answer->wrong);
	else
		dial_to(link, answer->addresses, answer->count);
}

static void begin(struct upstream_link *link)
{
	const struct rule_target *target = first_stop(link);

	if (target->address.family)
		dial_to(link, &target->address, 1);
	else
		link->question = resolver_ask(link->upstream->ways->resolver, target->host,
					      resolved, link);
}

/* --- events */

static void forget_kept(struct upstream_link *link)
{
	struct upstream *upstream = link->upstream;
	struct upstream_link **at = &upstream->kept;

	while (*at && *at != link)
		at = &(*at)->next;
	if (*at) {
		*at = link->next;
		upstream->kept_count--;
	}
}

static void ready(struct event_loop_source *source, uint32_t events)
{
	struct upstream_link *link = EVENT_LOOP_OWNER(source, struct upstream_link, source);
	char byte;

	switch (link->state) {
	case ASKING_PROXY:
		if (link->asked < link->proxy.used && events & EPOLLOUT)
			write_proxy(link);
		else
			read_proxy(link);
		break;
	case SHAKING_HANDS:
		shake_hands(link);
		break;
	case OPEN:
		link->user.ready(link->user.context, events);
		break;
	case KEPT:
		/* A new TLS session may arrive late; anything else ends the connection. */
		if (upstream_read(link, &byte, 1) == TLS_AGAIN)
			break;
		forget_kept(link);
		release(link);
		break;
	default:
		break;
	}
}

static void ring(struct event_loop_alarm *alarm)
{
	struct upstream_link *link = EVENT_LOOP_OWNER(alarm, struct upstream_link, alarm);

	if (link->state == KEPT) {
		forget_kept(link);
		release(link);
	} else if (link->failed) {
		char why[sizeof link->wrong];

		memcpy(why, link->wrong, sizeof why);
		fail(link, why);
	} else if (link->state != OPEN && link->state != GONE) {
		fail(link, "it did not respond in time");
	}
}

struct upstream_link *upstream_get(struct upstream *upstream, const struct upstream_user *user)
{
	struct upstream_link *link = upstream->kept;

	if (link) {
		upstream->kept = link->next;
		upstream->kept_count--;
		event_loop_alarm_stop(&link->alarm);
		link->next = NULL;
		link->state = OPEN;
		link->user = *user;
		return link;
	}
	link = mem_zero(sizeof *link);
	link->source = (struct event_loop_source){ .fd = -1, .ready = ready };
	link->alarm.ring = ring;
	link->upstream = upstream;
	link->user = *user;
	link->proxy = BUFFER_INIT(PROXY_HEAD);
	event_loop_alarm_start(upstream->ways->loop, upstream->ways->connecting, &link->alarm);
	link->starting = true;
	begin(link);
	link->starting = false;
	return link;
}

struct upstream_link *upstream_play(struct upstream *upstream, const struct upstream_user *user,
				    struct reel *reel)
{
	struct upstream_link *link = mem_zero(sizeof *link);

	link->source = (struct event_loop_source){ .fd = -1, .ready = ready };
	link->alarm.ring = ring;
	link->upstream = upstream;
	link->user = *user;
	link->reel = reel;
	link->state = OPEN;
	return link;
}

bool upstream_is_open(const struct upstream_link *link)
{
	return link->state == OPEN;
}

ssize_t upstream_read(struct upstream_link *link, void *bytes, size_t size)
{
	ssize_t n;

	if (link->reel)
		return reel_read(link->reel, bytes, size);
	link->read_wants = 0;
	if (link->tls)
		return tls_read(link->tls, bytes, size, &link->read_wants);
	do
		n = recv(link->source.fd, bytes, size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN) {
		snprintf(link->wrong, sizeof link->wrong, "%s", strerror(errno));
		return TLS_BROKEN;
	}
	return n;
}

ssize_t upstream_write(struct upstream_link *link, const void *bytes, size_t size)
{
	ssize_t n;

	if (link->reel)
		return (ssize_t)size;
	link->write_wants = 0;
	if (link->tls)
		return tls_write(link->tls, bytes, size, &link->write_wants);
	do
		n = send(link->source.fd, bytes, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN) {
		snprintf(link->wrong, sizeof link->wrong, "%s", strerror(errno));
		return TLS_BROKEN;
	}
	return n;
}

bool upstream_has_more(const struct upstream_link *link)
{
	return link->tls && tls_pending(link->tls);
}

const char *upstream_wrong(const struct upstream_link *link)
{
	return link->tls ? tls_wrong(link->tls) : link->wrong;
}

void upstream_watch(struct upstream_link *link, bool reading, bool writing)
{
	uint32_t events = 0;

	if (link->state != OPEN)
		return;
	if (link->reel) {
		reel_watch(link->reel, reading);
		return;
	}
	if (reading)
		events |= link->read_wants ? link->read_wants : (uint32_t)EPOLLIN;
	if (writing)
		events |= link->write_wants ? link->write_wants : (uint32_t)EPOLLOUT;
	event_loop_watch(link->upstream->ways->loop, &link->source, events);
}

void upstream_put(struct upstream_link *link, bool whole)
{
	struct upstream *upstream;

	if (!link || link->state == GONE)
		return;
	upstream = link->upstream;
	if (!whole || link->reel || link->state != OPEN || upstream->kept_count == UPSTREAM_KEPT ||
	    (link->tls && tls_pending(link->tls))) {
		release(link);
		return;
	}
	link->state = KEPT;
	link->next = upstream->kept;
	upstream->kept = link;
	upstream->kept_count++;
	event_loop_alarm_start(link->upstream->ways->loop, link->upstream->ways->keep,
			       &link->alarm);
	event_loop_watch(link->upstream->ways->loop, &link->source, EPOLLIN);
}
