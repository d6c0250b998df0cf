/*
 * Notices an agent that repeats a request although it fails: requests that failed in a row, all
 * with the same status and error. Any other outcome, or a minute without a request, starts again
 * from zero: a person at a terminal must not be locked out.
 *
 * From the fourth on, each request is held for a second. After the tenth, further requests are
 * refused here, unless waiting is the cure (a limit, an overload). Pure functions.
 */
#ifndef GATEWAY_MODEL_RUNAWAY_H
#define GATEWAY_MODEL_RUNAWAY_H

#include "failure/failure.h"
#include "gateway/owner/ledger.h"

#include <stdint.h>

enum {
	RUNAWAY_SLOW = 3,       /* failures in a row, after which requests are held */
	RUNAWAY_MOST = 10,      /* and after which they are refused */
	RUNAWAY_HOLD_MS = 1000, /* for how long each is held */
	RUNAWAY_FORGET_MS = 60000,
};

enum runaway_verdict { RUNAWAY_PASS, RUNAWAY_HOLD, RUNAWAY_REFUSE };

struct runaway {
	uint32_t count;
	uint64_t last_ms;     /* the last request */
	enum failure failure; /* of each of them */
	uint32_t status;
	char error[LEDGER_ERROR];
};

/* Records how a request ended. */
void runaway_add(struct runaway *runaway, const struct ledger_row *row);

/* Decides on a new request. */
enum runaway_verdict runaway_judge(struct runaway *runaway, uint64_t now_ms);

/* The failure that a refusal reports: the provider's if that is known, otherwise
 * FAILURE_RUNAWAY. */
enum failure runaway_failure(const struct runaway *runaway);

/* Explains a refusal. */
void runaway_explain(const struct runaway *runaway, char ret_text[LEDGER_ERROR]);

#endif
