/*
 * From addresses to a connection: tried in their order, the next one a quarter of a second after the one before, or
 * as soon as that has failed. The first that answers wins.
 */
#ifndef GATEWAY_PROXY_DIAL_H
#define GATEWAY_PROXY_DIAL_H

#include "gateway/event_loop.h"
#include "gateway/proxy/address.h"

enum { DIAL_ADDRESSES = 8 };

struct dial;

/* fd: connected, or -1 with the errno of the last try. Called once, never before dial_start() returns. */
typedef void dial_fn(void *context, int fd, int error);

struct dial *dial_start(struct event_loop *loop, struct event_loop_delay *stagger,
			const struct address *addresses, size_t count, uint16_t port, dial_fn *done,
			void *context);

/* Gives up, silently. NULL is nothing. */
void dial_stop(struct dial *dial);

#endif
