/*
 * The gateway's till: what it may spend, who waits for money, and what the owner is told.
 *
 * The owner grants money in steps and writes the lines of the ledger (ledger.h); here is the other end of that. When the
 * money is used up the till is latched: what waits is refused, what streams is cut, and nothing leaves any more.
 */
#ifndef GATEWAY_MODEL_BUDGET_H
#define GATEWAY_MODEL_BUDGET_H

#include "failure/failure.h"
#include "gateway/event_loop.h"
#include "gateway/owner/ledger.h"
#include "gateway/owner_protocol.h"
#include "meter/money.h"

#include <stdint.h>

enum { BUDGET_MODELS = 16 };

/* A request that may cost money; a part of what its owner knows of it. */
struct budget_spender {
	struct budget_spender *next, *prev;
};

/* What is done with those requests. */
struct budget_spending {
	bool (*waits)(const struct budget_spender *spender);
	bool (*pay)(struct budget_spender *spender);     /* false: it has to wait on */
	void (*cut)(struct budget_spender *spender);     /* the money is used up */
	void (*abandon)(struct budget_spender *spender); /* everything ends: it leaves */
};

struct budget {
	struct money money;
	uint64_t usual;       /* what was reserved for the last request */
	uint32_t refused;     /* requests, because the money is used up */
	char why[LEDGER_WHY]; /* which limit is in the way, as the owner said last */
	struct event_loop *loop;
	int owner_fd;
	const struct budget_spending *spending;
	struct budget_spender *first, *last; /* all that are under way, the oldest first */
	struct budget_learnt {               /* of the models that were asked */
		const struct price_model *model;
		struct money_learnt like;
	} learnt[BUDGET_MODELS];
	size_t learnt_count;
};

/* Before anything is asked for. */
void budget_init(struct budget *budget, struct event_loop *loop, int owner_fd,
		 const struct budget_spending *spending);

/* A request is under way, or is over. */
void budget_enter(struct budget *budget, struct budget_spender *spender);
void budget_leave(struct budget *budget, struct budget_spender *spender);

/* Asks the owner for more. must: it is spent already. */
void budget_ask(struct budget *budget, uint64_t nusd, bool must);
void budget_granted(struct budget *budget, const struct owner_protocol_message *message);

/* A line for the ledger. */
void budget_tell(struct budget *budget, const struct ledger_row *row);

/* A request without one has failed. */
void budget_tell_failure(struct budget *budget, enum failure failure, const char *why);

/* Something was settled or changed: who waits may go on, what is overdrawn is asked for. */
void budget_changed(struct budget *budget);

/* A request is over: what the next one will need is asked for now. */
void budget_ask_ahead(struct budget *budget);

/* The money is used up. */
void budget_latch(struct budget *budget);

/* Everything ends: cuts what is under way, settles, and says so to the owner. */
void budget_close(struct budget *budget);

/* What a request of so many bytes was in tokens, and what one would be, with a margin; 0: not known. */
void budget_learn(struct budget *budget, const struct price_model *model, uint64_t bytes,
		  uint64_t tokens);
uint64_t budget_guess(const struct budget *budget, const struct price_model *model, uint64_t bytes);

#endif
