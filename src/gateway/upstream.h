/*
 * Connections to the providers: made, kept for the next request, and given back.
 *
 * The way to a provider is the owner's choice, so no rule is asked; with a proxy it goes through that, by CONNECT.
 * A connection that is kept is watched: whatever comes from it before it is used again ends it.
 */
#ifndef GATEWAY_UPSTREAM_H
#define GATEWAY_UPSTREAM_H

#include "gateway/dial.h"
#include "gateway/loop.h"
#include "gateway/models.h"
#include "gateway/resolve.h"
#include "gateway/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { UPSTREAM_KEPT = 16 }; /* connections of a provider that nobody uses */

struct engine;
struct link;
struct reel;

struct upstream {
	const struct models_provider *provider;
	struct tls_memory memory;
	struct link *kept;
	size_t kept_count;
};

/* For whom a connection is. Not called before link_get() returns. */
struct link_user {
	void (*open)(void *context);                    /* it can be written to */
	void (*failed)(void *context, const char *why); /* it could not be made; it is gone */
	void (*ready)(void *context, uint32_t events);  /* what was waited for */
	void *context;
};

/* One that was kept, or a new one. */
struct link *link_get(struct engine *engine, struct upstream *upstream,
		      const struct link_user *user);
/* What a tape gives instead of one: open, and the reel's owner. */
struct link *link_play(struct engine *engine, struct upstream *upstream,
		       const struct link_user *user, struct reel *reel);
bool link_is_open(
	const struct link *link); /* one that was kept is, at once: open() is not called */

/* As those of tls.h; what a link waits for next is link_watch()'s to say. */
ssize_t link_read(struct link *link, void *bytes, size_t size);
ssize_t link_write(struct link *link, const void *bytes, size_t size);
bool link_has_more(const struct link *link); /* that is read already: epoll knows nothing of it */
const char *link_wrong(const struct link *link);

/* reading, writing: what its user wants to do. 0, 0: nothing, for now. */
void link_watch(struct link *link, bool reading, bool writing);

/* Nobody needs it any more; whole: it may be kept. NULL is nothing. */
void link_put(struct link *link, bool whole);

#endif
