/*
 * The decision: what the loop does after an iteration, and whether one may start at all.
 *
 * In this order, and the first that holds decides:
 *
 *   done     every configured rule holds: checks that ended with 0 and ran something, the promise,
 *            the boxes. A promise never outvotes a check. An agent that the provider did not let
 *            work and that changed nothing has not finished anything, and without a rule nothing
 *            is ever done.
 *   limit    iterations, total time or total cost are used up, or a wait would go beyond the time
 *   failed   a breaker is open
 *   pause    a person is needed: authentication, or a model server that cannot be reached and was
 *            waited for six times in a row, which is half an hour
 *   wait     a provider's limit, to the stated time; when it does not say, when overloaded, and
 *            when it cannot be reached, 30 s, doubled up to 15 min
 *   pause    the cost warning, if it is to pause
 *   early    no rule is configured, and the confidence is high enough after enough iterations
 *   go on
 *
 * Waiting, a pause for a person and an interruption use up no iteration, and breakers ignore
 * the first two. Every reason is a sentence; a limit says what it is, its value and the flag that
 * changes it, and whether a check passes that would have been enough, had somebody chosen it.
 */
#ifndef GUARD_DECIDE_H
#define GUARD_DECIDE_H

#include "guard/boxes.h"
#include "guard/breaker.h"
#include "guard/confidence.h"
#include "guard/failure.h"
#include "guard/progress.h"

enum {
	GUARD_REASONS_MAX = 12,
	GUARD_REASON_SIZE = 480,
	GUARD_BACK_OFF_FIRST_S = 30,
	GUARD_BACK_OFF_MOST_S = 900,
	GUARD_UNREACHABLE_WAITS = 6,
	GUARD_STATED_WAITS = 3, /* in a row: then a stated time that comes sooner is not believed */
};

enum guard_action {
	GUARD_DONE,
	GUARD_GO_ON,
	GUARD_WAIT,
	GUARD_PAUSE,
	GUARD_EARLY,
	GUARD_LIMIT,
	GUARD_FAILED,
	GUARD_ACTIONS
};

enum guard_limit {
	GUARD_LIMIT_NONE,
	GUARD_LIMIT_ITERATIONS,
	GUARD_LIMIT_TIME,
	GUARD_LIMIT_COST,
};

/* 0 switches a limit off. Money is in nano-dollars: 1,000,000,000 are US$ 1. */
struct guard_limits {
	uint32_t iterations;       /* --max-iterations */
	int64_t total_s;           /* --max-time */
	int64_t cost_nusd;         /* --max-cost */
	int64_t cost_warning_nusd; /* --warn-cost */
	bool pause_on_warning;     /* --pause-on-warning */
	uint32_t early_confidence; /* --early-stop, in per mille */
	uint32_t early_iterations; /* at least so many before that */
};

/* 20 iterations, 8 h, US$ 25, pause at 15, early stop at 950 after 2. */
#define GUARD_LIMITS_DEFAULT                                               \
	((struct guard_limits){ .iterations = 20,                          \
				.total_s = 8 * 3600,                       \
				.cost_nusd = INT64_C(25000000000),         \
				.cost_warning_nusd = INT64_C(15000000000), \
				.pause_on_warning = true,                  \
				.early_confidence = 950,                   \
				.early_iterations = 2 })

/* What must hold for the work to be done; all that are set. */
struct guard_rules {
	bool checks;
	bool promise;
	bool boxes;
};

struct guard_input {
	int64_t now;
	int64_t started_at;  /* of the loop */
	uint32_t iterations; /* used up before this one */
	int64_t cost_nusd;   /* of everything, this one included */
	bool warned;         /* of the cost, in an earlier decision */
	uint32_t waits;      /* in a row, as the decision before said */
	struct guard_limits limits;
	struct guard_rules rules;
	struct guard_breaker breakers[GUARD_BREAKERS]; /* as the decision before left them */
	const char *found; /* the check, if nobody chose it: it ends no loop alone; else NULL */

	/* After an iteration only. */
	struct guard_facts facts;
	const char *unreached; /* why a model server cannot be reached; NULL: not known */
	struct guard_boxes boxes;
	bool promised;
	int64_t tests_passed;
	int64_t tests_failed;
	uint64_t signature; /* of what failed, see guard_signature() */
	struct guard_snapshot snapshot;
	const struct guard_snapshot *earlier; /* the latest first */
	size_t earlier_count;
};

struct guard_decision {
	enum guard_action action;
	bool should_continue; /* by itself: go on or wait */
	bool counts_as_iteration;
	enum guard_failure failure;
	enum guard_limit limit;          /* of GUARD_LIMIT */
	enum guard_breaker_kind breaker; /* of GUARD_FAILED */
	int64_t wait_until;              /* of GUARD_WAIT */
	uint32_t completion;             /* per mille */
	uint32_t confidence;             /* per mille */
	bool progressed;
	struct guard_progress progress;

	/* To be stored, and passed in next time. */
	uint32_t iterations;
	uint32_t waits;
	bool warned;
	struct guard_breaker breakers[GUARD_BREAKERS];

	uint32_t reason_count;
	char reasons[GUARD_REASONS_MAX][GUARD_REASON_SIZE]; /* the first says why the action */
};

/* After an iteration. */
void guard_decide(const struct guard_input *input, struct guard_decision *ret_decision);

/* Before an iteration: go on, limit, failed, or pause. */
void guard_before(const struct guard_input *input, struct guard_decision *ret_decision);

/* "done", "go on"... */
const char *guard_action_name(enum guard_action action);

/* How long to wait after so many waits in a row. */
int64_t guard_back_off_s(uint32_t waits);

#endif
