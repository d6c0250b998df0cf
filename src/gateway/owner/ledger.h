/*
 * The books of a gateway's owner: what may be spent, what is held for it, and a line for each request.
 *
 * The gateway spends only what was granted to it, and a grant is on the disk before it is given: a crash of anything,
 * at any instant, can make the spend look higher than it was, never lower. What a gateway did not use comes back when
 * it ends in order. Several owners may share the purse of a day; the lock on its file decides between them.
 *
 * A folder has `spend` (two records, written in turn, each with a sum) and `ledger.jsonl` (one line for each request; what was
 * granted to somebody who died is a line of its own, so that lines and purse agree).
 */
#ifndef GATEWAY_OWNER_LEDGER_H
#define GATEWAY_OWNER_LEDGER_H

#include "price/price.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_WHY = 160, LEDGER_STRAY = 1000, LEDGER_TAPE = 256, LEDGER_ERROR = 320 };

/* What was used by one request, as the gateway tells it. */
struct ledger_row {
	char route[16];           /* "messages"; "lost": granted to a gateway that died */
	char provider[16];        /* "anthropic" */
	char model[128];          /* as it was asked for */
	char as[PRICE_NAME];      /* the model of the table that it was counted as */
	char child[64];           /* which agent of the agent asked; empty: not said */
	char error[LEDGER_ERROR]; /* the provider's word, or why it is not reached; empty: none */
	uint64_t tokens[PRICE_KINDS];
	uint64_t searches;
	uint64_t cost_nusd;
	uint32_t status;     /* of HTTP; 0: there was no answer */
	uint32_t failure;    /* enum failure */
	uint32_t estimated;  /* no final numbers came */
	uint32_t free;       /* of a local model */
	uint32_t known;      /* the model is in the table, or costs nothing */
	int64_t retry_at_ms; /* since the epoch; 0: not said */
	uint32_t first_ms;   /* until the first byte of the answer */
	uint32_t duration_ms;
};

enum ledger_scope { LEDGER_ITERATION, LEDGER_LOOP, LEDGER_DAY, LEDGER_SCOPES };

struct ledger_options {
	const char *folder;             /* exists; of a loop, or of gateways without one */
	const char *day;                /* the file of the user's day; NULL: nobody asks */
	uint64_t limits[LEDGER_SCOPES]; /* nano-dollars; 0: none */
	uint64_t period;    /* which iteration, and which try of it: another number begins at 0 */
	uint64_t settled;   /* the last period that has come to its end; later ones were cut off */
	uint32_t iteration; /* for the ledger; 0: none */
	bool replay;        /* nobody is paid: lines say so, and the day is not charged */
	const char *agent;  /* the same; NULL: not known */
};

struct ledger;

int ledger_open(const struct ledger_options *options, struct ledger **ret_books, struct error *err);

/*
 * Grants so much more, or, if less is left, that (a little more than asked for, to be asked less often). must: it
 * is spent already, and only written down. *ret_left is what could still be granted; of why (may be empty) the caller
 * learns which limit is in the way. Returns 0, or -1 with err set: then nothing was granted.
 */
int ledger_lease(struct ledger *books, uint64_t nusd, bool must, uint64_t *ret_granted,
		 uint64_t *ret_left, char ret_why[LEDGER_WHY], struct error *err);

/* Writes a line. Foreign strings are cleaned. */
int ledger_add(struct ledger *books, const struct ledger_row *row, struct error *err);

/* The gateway is gone: in_order, and what it did not use comes back; else all that was granted counts as spent. */
int ledger_end_lease(struct ledger *books, bool in_order, struct error *err);

/* So many requests were refused or cut, because the money was used up. */
void ledger_add_refused(struct ledger *books, uint32_t count);

/* A request that has no line, because it costs nothing or did not leave, failed: how (enum failure),
 * and why. */
void ledger_add_failure(struct ledger *books, uint32_t failure, const char *text);

/* A replay has left its tape: what is said about that. The first time counts. */
void ledger_add_stray(struct ledger *books, const char *text);

/* The tape that is recorded has ended before the run: what is said about that. */
void ledger_add_tape(struct ledger *books, const char *text);

/* What the lines since ledger_open() cost. */
uint64_t ledger_spent(const struct ledger *books);

/* What a run should know at its end. */
struct ledger_news {
	bool over;                    /* the money was used up: something was refused or cut */
	enum ledger_scope scope;      /* which limit that was */
	char why[LEDGER_WHY];         /* the same as a sentence */
	uint32_t failure;             /* how the last request ended: enum failure */
	int64_t retry_at_ms;          /* when that provider wants to be asked again; 0: not said */
	char unreached[LEDGER_ERROR]; /* why it had no answer; empty: it had one */
	uint32_t refused;             /* requests, because the money was used up */
	uint64_t requests;            /* that left */
	uint64_t free_requests;       /* of these, to local models */
	uint64_t tokens[PRICE_KINDS];
	uint64_t cost_nusd;
	bool replay;              /* and nobody was paid */
	char stray[LEDGER_STRAY]; /* where a replay has left its tape; empty: it has not */
	char tape[LEDGER_TAPE];   /* why not all of it was recorded; empty: it was, or nothing is */
};

void ledger_tell(const struct ledger *books, struct ledger_news *ret_news);

/* All tokens that went in, from a cache or not. */
uint64_t ledger_input(const struct ledger_news *news);

void ledger_close(struct ledger *books);

/* What a purse holds, without a lock: altogether, and in its last period. No file is 0. */
int ledger_read(const char *folder, uint64_t *ret_total, uint64_t *ret_period_key,
		uint64_t *ret_period, struct error *err);

#endif
