/*
 * Connections to the providers: made, kept for the next request, and given back.
 *
 * The way to a provider is the owner's choice, so no rule is asked; with a proxy it goes through that, by CONNECT.
 * A connection that is kept is watched: whatever comes from it before it is used again ends it.
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

enum { UPSTREAM_KEPT = 16 }; /* connections of a provider that nobody uses */

struct upstream_link;
struct reel;

/* What all connections are made with. */
struct upstream_ways {
	struct event_loop *loop;
	struct event_loop_delay *connecting, *stagger, *keep;
	struct resolver *resolver;
	const struct model_config *models;
	struct tls *tls; /* made when it is needed first */
};

struct upstream {
	struct upstream_ways *ways;
	const struct model_config_provider *provider;
	struct tls_memory memory;
	struct upstream_link *kept;
	size_t kept_count;
};

/* For whom a connection is. Not called before upstream_get() returns. */
struct upstream_user {
	void (*open)(void *context);                    /* it can be written to */
	void (*failed)(void *context, const char *why); /* it could not be made; it is gone */
	void (*ready)(void *context, uint32_t events);  /* what was waited for */
	void *context;
};

/* One that was kept, or a new one. */
struct upstream_link *upstream_get(struct upstream *upstream, const struct upstream_user *user);
/* What a tape gives instead of one: open, and the reel's owner. */
struct upstream_link *upstream_play(struct upstream *upstream, const struct upstream_user *user,
				    struct reel *reel);
bool upstream_is_open(
	const struct upstream_link *link); /* one that was kept is, at once: open() is not called */

/* As those of tls.h; what a link waits for next is upstream_watch()'s to say. */
ssize_t upstream_read(struct upstream_link *link, void *bytes, size_t size);
ssize_t upstream_write(struct upstream_link *link, const void *bytes, size_t size);
bool upstream_has_more(
	const struct upstream_link *link); /* that is read already: epoll knows nothing of it */
const char *upstream_wrong(const struct upstream_link *link);

/* reading, writing: what its user wants to do. 0, 0: nothing, for now. */
void upstream_watch(struct upstream_link *link, bool reading, bool writing);

/* Nobody needs it any more; whole: it may be kept. NULL is nothing. */
void upstream_put(struct upstream_link *link, bool whole);

#endif
