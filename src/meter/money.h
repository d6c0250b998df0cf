/*
 * The gateway's budget arithmetic: reserve before a request is sent, adjust while it runs, settle
 * at the end.
 *
 * Pure arithmetic in whole nano-dollars. The gateway spends only what its owner has granted, in
 * steps (a lease), and the owner records each grant on disk before it replies. So every reservation
 * is durable, and concurrent requests cannot reserve the same money twice. If a provider charges
 * more than was granted, the excess is requested afterwards; if nothing is left, no further request
 * is sent.
 */
#ifndef METER_MONEY_H
#define METER_MONEY_H

#include "price/price.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MONEY_LEARNT = 16 << 10, /* minimum request size, in bytes, to learn the token size from */
	MONEY_LONGEST = 4,       /* maximum bytes per token, whatever was learnt */
};

#define MONEY_NO_LIMIT UINT64_C(0x7fffffffffffffff)

struct money {
	uint64_t granted;  /* by the owner, in total */
	uint64_t left;     /* how much the owner could still grant, as of its last reply */
	uint64_t spent;    /* settled */
	uint64_t reserved; /* for requests in flight */
	bool asking;       /* a question to the owner is pending */
	bool latched;      /* used up: no more requests are sent */
};

/* Observed requests to a model: the highest ratio of tokens to bytes, and the largest request. */
struct money_learnt {
	uint64_t tokens, bytes;
	uint64_t largest;
};

/* Records that a request of this many bytes had this many tokens. */
void money_learn(struct money_learnt *learnt, uint64_t bytes, uint64_t tokens);

/* Estimates the tokens of a request: 1.5 times the learnt ratio, and at least one token per
 * MONEY_LONGEST bytes. Beyond the largest request seen, each byte counts as a token. Returns 0
 * if nothing was learnt. */
uint64_t money_guess(const struct money_learnt *learnt, uint64_t bytes);

/* The upper bound of a request's cost. */
struct money_want {
	const struct price_table *table;
	const struct price_model *model; /* NULL: unknown */
	bool free;                       /* a local model: counted but free */
	bool fast;
	uint64_t input;  /* tokens, upper bound */
	uint64_t likely; /* the same, estimated from what was learnt, or 0 */
	uint64_t output; /* tokens per answer */
	uint64_t answers;
	uint64_t floor; /* with fewer output tokens it is not worth sending */
};

enum money_verdict {
	MONEY_GO,   /* reserved; *ret_output is the limit of its output */
	MONEY_ASK,  /* the owner must grant *ret_nusd more first */
	MONEY_WAIT, /* wait until other requests return their reservations */
	MONEY_OVER, /* *ret_nusd more is needed, and no reservation will be returned */
};

/* Decides about a request. Requests share the money: one whose output would cost more than is
 * available gets as much output as half of the money pays for, but at least the floor. */
enum money_verdict money_reserve(struct money *money, const struct money_want *want,
				 uint64_t *ret_reserved, uint64_t *ret_output, uint64_t *ret_nusd);

/* Records the owner's reply: the grant, and how much it could still grant. */
void money_grant(struct money *money, uint64_t nusd, uint64_t left);

/* Changes a request's reservation, *reserved. */
void money_adjust(struct money *money, uint64_t *reserved, uint64_t nusd);

/* Ends a request's reservation and records its cost. */
void money_settle(struct money *money, uint64_t *reserved, uint64_t cost);

/* Returns how much to request from the owner in advance, so that the next request, if it needs
 * the `usual` reservation, does not wait for the disk. Returns 0 when money is short: other
 * requests may need it. */
uint64_t money_ahead(const struct money *money, uint64_t usual);

/* Returns how much was spent or reserved beyond the grant. */
uint64_t money_overdrawn(const struct money *money);

#endif
