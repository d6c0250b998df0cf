/* Connects to the first of several addresses that responds. They are tried in order, each a
 * quarter of a second after the one before, or as soon as that one has failed. */
#ifndef GATEWAY_PROXY_DIAL_H
#define GATEWAY_PROXY_DIAL_H

#include "gateway/event_loop.h"
#include "gateway/proxy/address.h"

enum { DIAL_ADDRESSES = 8 };

struct dial;

/* Called once, never before dial_start() returns. fd: connected, or -1 with the last attempt's
 * errno. */
typedef void dial_fn(void *context, int fd, int error);

struct dial *dial_start(struct event_loop *loop, struct event_loop_delay *stagger,
			const struct address *addresses, size_t count, uint16_t port, dial_fn *done,
			void *context);

/* Gives up without calling back. NULL is ignored. */
void dial_stop(struct dial *dial);

#endif
