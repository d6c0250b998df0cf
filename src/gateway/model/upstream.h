/*
 * Connections to providers: opened, kept for the next request, and returned.
 *
 * The owner chooses the providers, so the allow list does not apply. If a proxy is configured,
 * connections go through it with CONNECT. Kept connections are watched: any event before their next
 * use ends them.
 */
#ifndef GATEWAY_MODEL_UPSTREAM_H
#define GATEWAY_MODEL_UPSTREAM_H

#include "gateway/event_loop.h"
#include "gateway/model/tls.h"
#include "gateway/owner/model_config.h"
#include "gateway/proxy/dial.h"
#include "gateway/proxy/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { UPSTREAM_KEPT = 16 }; /* idle connections per provider */

struct upstream_link;
struct reel;

/* Shared by all connections. */
struct upstream_ways {
	struct event_loop *loop;
	struct event_loop_delay *connecting, *stagger, *keep;
	struct resolver *resolver;
	const struct model_config *models;
	struct tls *tls; /* created on first use */
};

struct upstream {
	struct upstream_ways *ways;
	const struct model_config_provider *provider;
	struct tls_memory memory;
	struct upstream_link *kept;
	size_t kept_count;
};

/* The user of a connection. Not called before upstream_get() returns. */
struct upstream_user {
	void (*open)(void *context);                    /* it can be written to */
	void (*failed)(void *context, const char *why); /* it could not be opened, and was freed */
	void (*ready)(void *context, uint32_t events);  /* the awaited events */
	void *context;
};

/* Returns a kept connection or a new one. */
struct upstream_link *upstream_get(struct upstream *upstream, const struct upstream_user *user);
/* Returns a connection that plays a tape: open, and the owner of the reel. */
struct upstream_link *upstream_play(struct upstream *upstream, const struct upstream_user *user,
				    struct reel *reel);
bool upstream_is_open(
	const struct upstream_link *link); /* true at once for a kept one: open() is not called */

/* Like those of tls.h; upstream_watch() sets the events to wait for next. */
ssize_t upstream_read(struct upstream_link *link, void *bytes, size_t size);
ssize_t upstream_write(struct upstream_link *link, const void *bytes, size_t size);
bool upstream_has_more(
	const struct upstream_link *link); /* buffered data, which epoll does not report */
const char *upstream_wrong(const struct upstream_link *link);

/* reading, writing: what the user wants to do. Both false: nothing for now. */
void upstream_watch(struct upstream_link *link, bool reading, bool writing);

/* Returns a connection. whole: it may be kept. NULL is ignored. */
void upstream_put(struct upstream_link *link, bool whole);

#endif
