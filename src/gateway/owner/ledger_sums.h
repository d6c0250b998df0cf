/*
 * The lines of a ledger, and their sums by model, agent, subagent and whether somebody was paid.
 * The agent of a review is called "NAME (review)".
 * The sums of a ledger can be written as one line of text, so that a ledger that no longer changes
 * is read once.
 */
#ifndef GATEWAY_OWNER_LEDGER_SUMS_H
#define GATEWAY_OWNER_LEDGER_SUMS_H

#include "price/price.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of a ledger, or the sum of several. */
struct ledger_sums_item {
	char *model, *agent, *child; /* may be empty */
	bool lost;                   /* granted to a gateway that died */
	bool replay;                 /* nobody was paid */
	uint64_t first_ms, last_ms;
	uint64_t first_iteration, last_iteration;
	uint64_t requests;
	uint64_t tokens[PRICE_KINDS];
	uint64_t cost_nusd, estimated_nusd;
};

struct ledger_sums {
	struct ledger_sums_item *items;
	size_t count;
};

/* The names of the kinds of tokens in a ledger. */
extern const char *const ledger_sums_kinds[PRICE_KINDS];

void ledger_sums_release(struct ledger_sums *sums);

/* Adds a copy of an item. */
void ledger_sums_add(struct ledger_sums *sums, const struct ledger_sums_item *item);

/*
 * Passes each line of the ledger in a folder to the function, except for lines that a crash has
 * torn, whose cost is in the next one. *ret_nusd: what they add up to. Returns 0, or -1 with err
 * set.
 */
typedef void ledger_sums_fn(void *context, const struct ledger_sums_item *item);
int ledger_sums_read(const char *folder, ledger_sums_fn *take, void *context, uint64_t *ret_nusd,
		     struct error *err);

/* The sums as a line of text, which the caller frees, and back. ledger_sums_parse() returns 0, or
 * -1 if the text is malformed. */
char *ledger_sums_text(const struct ledger_sums *sums);
int ledger_sums_parse(const char *text, struct ledger_sums *ret_sums);

#endif
