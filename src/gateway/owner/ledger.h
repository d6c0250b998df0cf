/*
 * The ledger of a gateway's owner: spending limits, money granted to the gateway, and a line for
 * each request.
 *
 * The gateway spends only what was granted to it, and each grant is written to disk before the
 * reply. A crash at any point can make the recorded spend too high, never too low. The unused part
 * of a grant is returned when the gateway ends. If it was killed, the table of open requests
 * (open_requests.h) says how much it may have used; without a sound table, the whole grant counts
 * as spent. Several owners may share the spend file of a day; its lock serialises them.
 *
 * A folder holds `spend` (two records, written alternately, each with a checksum) and
 * `ledger.jsonl` (one line per request, also for each open request of a gateway that died, so that
 * the lines and the spend file agree). For a loop it also holds `open-requests`, that table; owners
 * that share a folder have one in memory.
 */
#ifndef GATEWAY_OWNER_LEDGER_H
#define GATEWAY_OWNER_LEDGER_H

#include "price/price.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_WHY = 160, LEDGER_STRAY = 1000, LEDGER_TAPE = 256, LEDGER_ERROR = 320 };

/* The usage of one request, as reported by the gateway. */
struct ledger_row {
	uint64_t id;              /* in the table of open requests; 0: it was not there */
	char route[16];           /* "messages"; "lost": of a gateway that died */
	char provider[16];        /* "anthropic" */
	char model[128];          /* as requested */
	char as[PRICE_NAME];      /* the model in the price table whose prices were used */
	char child[64];           /* the subagent that sent it, or empty */
	char error[LEDGER_ERROR]; /* the provider's error, or why it was not reached; or empty */
	uint64_t tokens[PRICE_KINDS];
	uint64_t searches;
	uint64_t cost_nusd;
	uint32_t status;     /* HTTP status; 0: no response */
	uint32_t failure;    /* enum failure */
	uint32_t estimated;  /* the final numbers are missing */
	uint32_t free;       /* a local model */
	uint32_t known;      /* the model is in the price table, or is free */
	int64_t retry_at_ms; /* since the epoch, or 0 */
	uint32_t first_ms;   /* until the first byte of the response */
	uint32_t duration_ms;
	uint64_t began_ms; /* on the steady clock */
};

enum ledger_scope { LEDGER_ITERATION, LEDGER_LOOP, LEDGER_DAY, LEDGER_SCOPES };

struct ledger_options {
	/* must exist; of a loop, or shared by gateways without one */
	const char *folder;
	const char *day;                /* the user's spend file of the day, or NULL */
	uint64_t limits[LEDGER_SCOPES]; /* nano-dollars; 0: no limit */
	/* The name of the iteration's limit, for messages: static texts such as "this iteration"
	 * and "--budget", or NULL outside a loop; and the limit of which it is the rest, or 0. */
	const char *budget_of, *budget_option;
	uint64_t budget_whole;
	uint64_t period;    /* identifies the iteration and its attempt; a new number starts at 0 */
	uint64_t spent;     /* known to be spent already, should the spend file have lost it */
	uint64_t settled;   /* the last period that ended; later ones were interrupted */
	uint32_t iteration; /* for the ledger, or 0 */
	bool replay;        /* nobody is paid: lines are marked, and the day is not charged */
	const char *agent;  /* for the ledger, or NULL */
	bool review;        /* it judges the work of others: lines are marked */
};

struct ledger;

int ledger_open(const struct ledger_options *options, struct ledger **ret_ledger,
		struct error *err);

/*
 * Grants this much more, or less if less is left, or slightly more to save further requests.
 * `must`: the money is already spent and is only recorded. Sets *ret_left to how much could still
 * be granted, and ret_why to the limit that was reached (or empty). Returns 0, or -1 with err set
 * if nothing was granted.
 */
int ledger_lease(struct ledger *ledger, uint64_t nusd, bool must, uint64_t *ret_granted,
		 uint64_t *ret_left, char ret_why[LEDGER_WHY], struct error *err);

/* Writes a line. Untrusted strings are sanitised. */
int ledger_add(struct ledger *ledger, const struct ledger_row *row, struct error *err);

/* Ends the lease after the gateway has exited. `in_order`: everything that it spent is in lines;
 * otherwise its open requests get one. The unused part is returned. */
int ledger_end_lease(struct ledger *ledger, bool in_order, struct error *err);

/* Returns the descriptor of the table of open requests, for the gateway; or -1 if there is none. */
int ledger_open_requests(const struct ledger *ledger);

/*
 * Books what an owner left open that was killed, if nobody spends from this folder. ledger_open()
 * does so as well. Returns 0, or -1 with err set.
 */
int ledger_recover(const struct ledger_options *options, struct error *err);

/* Records that this many requests were refused or cut because the budget was used up. */
void ledger_add_refused(struct ledger *ledger, uint32_t count);

/* Records the failure (enum failure) of a request that has no line because it is free or was not
 * sent. */
void ledger_add_failure(struct ledger *ledger, uint32_t failure, const char *text);

/* Records how a replay diverged from its tape. Only the first call counts. */
void ledger_add_stray(struct ledger *ledger, const char *text);

/* Records why the recording ended before the run did. */
void ledger_add_tape(struct ledger *ledger, const char *text);

/* Returns the total cost of the lines since ledger_open(). */
uint64_t ledger_spent(const struct ledger *ledger);

/* The results of a run. */
struct ledger_news {
	bool over;               /* the budget was used up: a request was refused or cut */
	enum ledger_scope scope; /* the limit that was reached */
	char why[LEDGER_WHY];    /* the same as a sentence */
	uint32_t failure;        /* how the last request ended: enum failure */
	uint64_t asked_ms;       /* when the last request began that a model answered, or 0 */
	int64_t retry_at_ms;     /* when that provider accepts requests again, or 0 */
	/* why it got no response or was refused, or the model that is unknown; or empty */
	char unreached[LEDGER_ERROR];
	uint32_t policy_refused; /* requests that a person would have to allow: FAILURE_REFUSED */
	char policy_why[LEDGER_ERROR]; /* the first of them, or empty */
	uint32_t refused;              /* requests refused because the budget was used up */
	uint64_t requests;             /* requests that were sent */
	uint64_t free_requests;        /* those to local models */
	uint64_t tokens[PRICE_KINDS];
	uint64_t cost_nusd;
	uint64_t estimated_nusd;  /* the estimated part of the cost */
	bool replay;              /* nobody was paid */
	char stray[LEDGER_STRAY]; /* how a replay diverged from its tape, or empty */
	char tape[LEDGER_TAPE];   /* why the recording is incomplete, or empty */
};

void ledger_get_news(const struct ledger *ledger, struct ledger_news *ret_news);

/* Returns all input tokens, cached or not. */
uint64_t ledger_input(const struct ledger_news *news);

void ledger_close(struct ledger *ledger);

/* Reads a spend file without a lock: the total, and the last period. A missing file counts as 0. */
int ledger_read(const char *folder, uint64_t *ret_total, uint64_t *ret_period_key,
		uint64_t *ret_period, struct error *err);

/* Reads how much the lines of a ledger must add up to, at least. */
int ledger_booked(const char *folder, uint64_t *ret_nusd, struct error *err);

#endif
