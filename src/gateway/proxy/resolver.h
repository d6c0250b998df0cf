/* Resolves names with c-ares, like the system's resolver (resolv.conf, hosts, nsswitch.conf, TCP
 * for long answers), without threads and without blocking. No search domains are used. Nothing
 * is cached: each connection sends a query, or waits for one in flight. */
#ifndef GATEWAY_PROXY_RESOLVER_H
#define GATEWAY_PROXY_RESOLVER_H

#include "gateway/event_loop.h"
#include "gateway/proxy/address.h"

enum { RESOLVER_ADDRESSES = 16 };

struct resolver;
struct resolver_question;

struct resolver_answer {
	const char *wrong;                            /* why there are none, or NULL */
	struct address addresses[RESOLVER_ADDRESSES]; /* best first */
	size_t count;
};

typedef void resolver_fn(void *context, const struct resolver_answer *answer);

int resolver_new(struct event_loop *loop, struct resolver **ret_resolver, struct error *err);

/* Starts a query. The function is called once, possibly before this returns (in which case it
 * returns NULL). */
struct resolver_question *resolver_ask(struct resolver *resolver, const char *name,
				       resolver_fn *done, void *context);

/* Cancels a query; its function is not called. */
void resolver_forget(struct resolver_question *question);

/* Call it before each wait. Processes timeouts and returns the time until the next one. */
uint64_t resolver_settle(struct resolver *resolver);

#endif
