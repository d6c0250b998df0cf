/*
 * Notices an agent that repeats requests although they fail. Two counts are kept: of requests in a
 * row that failed with the same status and error, and of failures of the same body, whatever
 * happened in between (opencode shortens its conversation after each failure, and that request
 * succeeds). An answer, another error, or a minute without such a request starts again from zero: a
 * person at a terminal must not be locked out.
 *
 * From the fourth failure on, each request is held for a second. After the tenth, further requests
 * are refused here, unless waiting is the cure (a limit, an overload). Pure functions.
 */
#ifndef GATEWAY_MODEL_RUNAWAY_H
#define GATEWAY_MODEL_RUNAWAY_H

#include "failure/failure.h"
#include "gateway/owner/ledger.h"

#include <stddef.h>
#include <stdint.h>

enum {
	RUNAWAY_SLOW = 3,       /* failures, after which requests are held */
	RUNAWAY_MOST = 10,      /* and after which they are refused */
	RUNAWAY_HOLD_MS = 1000, /* for how long each is held */
	RUNAWAY_FORGET_MS = 60000,
	RUNAWAY_BODIES = 8, /* failed bodies that are remembered */
	RUNAWAY_ERROR = 64,
};

enum runaway_verdict { RUNAWAY_PASS, RUNAWAY_HOLD, RUNAWAY_REFUSE };

struct runaway_count {
	uint64_t body; /* its hash */
	uint64_t last_ms;
	uint32_t count;
	uint32_t status;
	enum failure failure;
	char error[RUNAWAY_ERROR];
};

struct runaway {
	struct runaway_count row; /* in a row, of any body */
	struct runaway_count bodies[RUNAWAY_BODIES];
};

/* Adds bytes to the hash of a body, which is 0 at first. */
uint64_t runaway_hash(uint64_t hash, const char *bytes, size_t size);

/* Records how a request with this body ended. */
void runaway_add(struct runaway *runaway, uint64_t body, const struct ledger_row *row,
		 uint64_t now_ms);

/* Decides on a new request. */
enum runaway_verdict runaway_judge(struct runaway *runaway, uint64_t body, uint64_t now_ms);

/* Explains a refusal. Returns the failure to report: the provider's if a person has to remove its
 * cause, otherwise FAILURE_RUNAWAY. */
enum failure runaway_explain(const struct runaway *runaway, uint64_t body,
			     char ret_text[LEDGER_ERROR]);

#endif
