/*
 * The gateway's budget: how much it may spend, which requests wait for money, and reports to the
 * owner.
 *
 * The owner grants money in steps and writes the ledger (ledger.h); this is the gateway's side.
 * When the money is used up, the budget is latched: waiting requests are refused, streams are cut,
 * and no further request is sent.
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

/* A request that may cost money; embedded in its owner's struct. */
struct budget_spender {
	struct budget_spender *next, *prev;
};

/* Operations on those requests. */
struct budget_spending {
	bool (*waits)(const struct budget_spender *spender);
	bool (*pay)(struct budget_spender *spender);     /* false: it must keep waiting */
	void (*cut)(struct budget_spender *spender);     /* the money is used up */
	void (*abandon)(struct budget_spender *spender); /* the gateway is closing: leave */
};

struct budget {
	struct money money;
	uint64_t usual;       /* the reservation of the last request */
	uint32_t refused;     /* requests refused because the money is used up */
	char why[LEDGER_WHY]; /* the limit that was reached, from the owner's last reply */
	struct event_loop *loop;
	int owner_fd;
	const struct budget_spending *spending;
	struct budget_spender *first, *last; /* all open requests, oldest first */
	struct budget_learnt {               /* by model */
		const struct price_model *model;
		struct money_learnt like;
	} learnt[BUDGET_MODELS];
	size_t learnt_count;
};

/* Call it before any request. */
void budget_init(struct budget *budget, struct event_loop *loop, int owner_fd,
		 const struct budget_spending *spending);

/* Adds an open request, or removes a finished one. */
void budget_enter(struct budget *budget, struct budget_spender *spender);
void budget_leave(struct budget *budget, struct budget_spender *spender);

/* Requests more money from the owner. must: it is already spent. */
void budget_ask(struct budget *budget, uint64_t nusd, bool must);
void budget_granted(struct budget *budget, const struct owner_protocol_message *message);

/* Reports a line for the ledger. */
void budget_report(struct budget *budget, const struct ledger_row *row);

/* Reports the failure of a request that has no line. */
void budget_report_failure(struct budget *budget, enum failure failure, const char *why);

/* Call it after a change: lets waiting requests continue, and requests overdrawn money. */
void budget_changed(struct budget *budget);

/* After a request: requests the money that the next one will need. */
void budget_ask_ahead(struct budget *budget);

/* Marks the money as used up. */
void budget_latch(struct budget *budget);

/* Cuts all open requests, settles them, and reports to the owner. */
void budget_close(struct budget *budget);

/* budget_learn() records how many tokens a request of this many bytes had; budget_guess()
 * estimates the tokens of a request, with a margin, or returns 0. */
void budget_learn(struct budget *budget, const struct price_model *model, uint64_t bytes,
		  uint64_t tokens);
uint64_t budget_guess(const struct budget *budget, const struct price_model *model, uint64_t bytes);

#endif
