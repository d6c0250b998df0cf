/*
 * The money of a run, as the gateway counts it: reserved before a request leaves, trued up, settled.
 *
 * Pure arithmetic in whole nano-dollars. The gateway spends only what its owner has granted, in steps (a lease), and
 * the owner has written down each of them before it says so; so what is promised to a request is durable, and
 * requests side by side cannot promise the same money twice. What was spent beyond a grant (a provider that did
 * more than it was asked for) is asked for afterwards, and ends everything if there is nothing left.
 */
#ifndef METER_MONEY_H
#define METER_MONEY_H

#include "price/price.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MONEY_LEARNT =
		16 << 10,  /* bytes of a request from which the size of its tokens is learnt */
	MONEY_LONGEST = 4, /* bytes of a token, at most, whatever was learnt */
};

#define MONEY_NO_LIMIT UINT64_C(0x7fffffffffffffff)

struct money {
	uint64_t granted;  /* by the owner, altogether */
	uint64_t left;     /* what the owner could still grant, as it said last */
	uint64_t spent;    /* settled */
	uint64_t reserved; /* for what is on its way */
	bool asking;       /* the owner has a question to answer */
	bool latched;      /* used up: nothing leaves any more */
};

/* What the requests to a model were like: the most tokens for their bytes, and the largest of them. */
struct money_learnt {
	uint64_t tokens, bytes;
	uint64_t largest;
};

/* A request of so many bytes was so many tokens. */
void money_learn(struct money_learnt *learnt, uint64_t bytes, uint64_t tokens);

/*
 * What one of so many bytes would be: half as many tokens again as what was learnt, and no fewer than the longest tokens make; what
 * is beyond the largest request so far counts each byte. 0: nothing was learnt.
 */
uint64_t money_guess(const struct money_learnt *learnt, uint64_t bytes);

/* What a request would cost at most. */
struct money_want {
	const struct price_table *table;
	const struct price_model *model; /* NULL: unknown */
	bool free;                       /* a local model: counted, at no price */
	bool fast;
	uint64_t input;  /* tokens, at most */
	uint64_t likely; /* the same, by what was learnt; 0: nothing was */
	uint64_t output; /* tokens of one answer */
	uint64_t answers;
	uint64_t floor; /* output tokens below which it is not worth sending */
};

enum money_verdict {
	MONEY_GO,   /* reserved; *ret_output is how much it may answer */
	MONEY_ASK,  /* the owner must grant *ret_nusd more first */
	MONEY_WAIT, /* others must give back first */
	MONEY_OVER, /* there is not enough for it (*ret_nusd more is needed), and nobody will give anything
		       back */
};

/*
 * Decides about a request. What can be had is shared: a request that wants more output than there is money for gets as much as
 * half of it pays for, and at least the floor.
 */
enum money_verdict money_reserve(struct money *money, const struct money_want *want,
				 uint64_t *ret_reserved, uint64_t *ret_output, uint64_t *ret_nusd);

/* The owner's answer: so much more, and so much that it could still grant. */
void money_grant(struct money *money, uint64_t nusd, uint64_t left);

/* Changes what is reserved for a request: *reserved is its part. */
void money_adjust(struct money *money, uint64_t *reserved, uint64_t nusd);

/* It is over and has cost this. */
void money_settle(struct money *money, uint64_t *reserved, uint64_t cost);

/*
 * What to ask the owner for before it is needed, so that a request like the last one (it had so much reserved) does not have to wait for the
 * disk; 0: nothing. Where money gets short nothing is taken ahead: others may need it.
 */
uint64_t money_ahead(const struct money *money, uint64_t usual);

/* What was used or promised beyond what was granted. */
uint64_t money_overdrawn(const struct money *money);

#endif
