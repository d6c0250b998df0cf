/*
 * Names to addresses, by c-ares: as the machine's resolver would (resolv.conf, hosts, nsswitch.conf, TCP for long
 * answers), without a thread and without blocking. Names are taken as they are: no domain is searched. Nothing is
 * remembered: each connection asks anew, or waits for an answer that is on its way.
 */
#ifndef GATEWAY_RESOLVE_H
#define GATEWAY_RESOLVE_H

#include "gateway/address.h"
#include "gateway/loop.h"

enum { RESOLVE_ADDRESSES = 16 };

struct resolver;
struct question;

struct answer {
	const char *wrong;                                   /* why there are none; NULL */
	struct gateway_address addresses[RESOLVE_ADDRESSES]; /* the best first */
	size_t count;
};

typedef void resolve_fn(void *context, const struct answer *answer);

int resolver_new(struct loop *loop, struct resolver **ret_resolver, struct error *err);

/* Asks. The function is called once, maybe before this returns (then NULL is returned). */
struct question *resolver_ask(struct resolver *resolver, const char *name, resolve_fn *done,
			      void *context);

/* Nobody wants to know any more. */
void question_forget(struct question *question);

/* Before each wait: what is due, and how long until the next. */
uint64_t resolver_settle(struct resolver *resolver);

#endif
