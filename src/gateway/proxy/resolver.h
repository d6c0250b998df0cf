/*
 * Names to addresses, by c-ares: as the machine's resolver would (resolv.conf, hosts, nsswitch.conf, TCP for long
 * answers), without a thread and without blocking. Names are taken as they are: no domain is searched. Nothing is
 * remembered: each connection asks anew, or waits for an answer that is on its way.
 */
#ifndef GATEWAY_PROXY_RESOLVER_H
#define GATEWAY_PROXY_RESOLVER_H

#include "gateway/event_loop.h"
#include "gateway/proxy/address.h"

enum { RESOLVER_ADDRESSES = 16 };

struct resolver;
struct resolver_question;

struct resolver_answer {
	const char *wrong;                            /* why there are none; NULL */
	struct address addresses[RESOLVER_ADDRESSES]; /* the best first */
	size_t count;
};

typedef void resolver_fn(void *context, const struct resolver_answer *answer);

int resolver_new(struct event_loop *loop, struct resolver **ret_resolver, struct error *err);

/* Asks. The function is called once, maybe before this returns (then NULL is returned). */
struct resolver_question *resolver_ask(struct resolver *resolver, const char *name,
				       resolver_fn *done, void *context);

/* Nobody wants to know any more. */
void resolver_forget(struct resolver_question *question);

/* Before each wait: what is due, and how long until the next. */
uint64_t resolver_settle(struct resolver *resolver);

#endif
