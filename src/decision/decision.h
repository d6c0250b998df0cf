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
 *   pause    a person is needed: a failure whose response is FAILURE_PAUSE, or a model server
 *            that cannot be reached and was waited for six times in a row, which is half an hour
 *   wait     a failure whose response is FAILURE_WAIT: a provider's limit, to the stated time; when
 *            it does not say, and after the others, 30 s, doubled up to 15 min
 *   pause    the cost warning, if it is to pause
 *   early    no rule is configured, and the confidence is high enough after enough iterations
 *   go on
 *
 * Waiting, a pause for a person and an interruption use up no iteration, and breakers ignore
 * the first two. Every reason is a sentence; a limit says what it is, its value and the flag that
 * changes it, and whether a check passes that would have been enough, had somebody chosen it.
 */
#ifndef DECISION_DECISION_H
#define DECISION_DECISION_H

#include "decision/boxes.h"
#include "decision/breaker.h"
#include "decision/confidence.h"
#include "decision/progress.h"
#include "failure/failure.h"

enum {
	DECISION_REASONS_MAX = 12,
	DECISION_REASON_SIZE = 480,
	DECISION_BACK_OFF_FIRST_S = 30,
	DECISION_BACK_OFF_MOST_S = 900,
	DECISION_UNREACHABLE_WAITS = 6,
	DECISION_STATED_WAITS =
		3, /* in a row: then a stated time that comes sooner is not believed */
};

enum decision_action {
	DECISION_DONE,
	DECISION_GO_ON,
	DECISION_WAIT,
	DECISION_PAUSE,
	DECISION_EARLY,
	DECISION_LIMIT,
	DECISION_FAILED,
	DECISION_ACTIONS
};

enum decision_limit {
	DECISION_LIMIT_NONE,
	DECISION_LIMIT_ITERATIONS,
	DECISION_LIMIT_TIME,
	DECISION_LIMIT_COST,
};

/* 0 switches a limit off. Money is in nano-dollars: 1,000,000,000 are US$ 1. */
struct decision_limits {
	uint32_t iterations;       /* --max-iterations */
	int64_t total_s;           /* --max-time */
	int64_t cost_nusd;         /* --max-cost */
	int64_t cost_warning_nusd; /* --warn-cost */
	bool pause_on_warning;     /* --pause-on-warning */
	uint32_t early_confidence; /* --early-stop, in per mille */
	uint32_t early_iterations; /* at least so many before that */
};

/* 20 iterations, 8 h, US$ 25, pause at 15, early stop at 950 after 2. */
#define DECISION_LIMITS_DEFAULT                                               \
	((struct decision_limits){ .iterations = 20,                          \
				   .total_s = 8 * 3600,                       \
				   .cost_nusd = INT64_C(25000000000),         \
				   .cost_warning_nusd = INT64_C(15000000000), \
				   .pause_on_warning = true,                  \
				   .early_confidence = 950,                   \
				   .early_iterations = 2 })

/* What must hold for the work to be done; all that are set. */
struct decision_rules {
	bool checks;
	bool promise;
	bool boxes;
};

struct decision_input {
	int64_t now;
	int64_t started_at;  /* of the loop */
	uint32_t iterations; /* used up before this one */
	int64_t cost_nusd;   /* of everything, this one included */
	bool warned;         /* of the cost, in an earlier decision */
	uint32_t waits;      /* in a row, as the decision before said */
	struct decision_limits limits;
	struct decision_rules rules;
	struct breaker breakers[BREAKER_COUNT]; /* as the decision before left them */
	const char *found; /* the check, if nobody chose it: it ends no loop alone; else NULL */

	/* After an iteration only. */
	struct failure_facts facts;
	const char *unreached; /* why a model server cannot be reached; NULL: not known */
	struct boxes boxes;
	bool promised;
	int64_t tests_passed;
	int64_t tests_failed;
	uint64_t signature; /* of what failed, see guard_signature() */
	struct progress_snapshot snapshot;
	const struct progress_snapshot *earlier; /* the latest first */
	size_t earlier_count;
};

struct decision {
	enum decision_action action;
	bool should_continue; /* by itself: go on or wait */
	bool counts_as_iteration;
	enum failure failure;
	enum decision_limit limit; /* of DECISION_LIMIT */
	enum breaker_kind breaker; /* of DECISION_FAILED */
	int64_t wait_until;        /* of DECISION_WAIT */
	uint32_t completion;       /* per mille */
	uint32_t confidence;       /* per mille */
	bool progressed;
	struct progress progress;

	/* To be stored, and passed in next time. */
	uint32_t iterations;
	uint32_t waits;
	bool warned;
	struct breaker breakers[BREAKER_COUNT];

	uint32_t reason_count;
	char reasons[DECISION_REASONS_MAX]
		    [DECISION_REASON_SIZE]; /* the first says why the action */
};

/* After an iteration. */
void decision_make(const struct decision_input *input, struct decision *ret_decision);

/* Before an iteration: go on, limit, failed, or pause. */
void decision_before(const struct decision_input *input, struct decision *ret_decision);

/* "done", "go on"... */
const char *decision_action_name(enum decision_action action);

/* How long to wait after so many waits in a row. */
int64_t decision_back_off_s(uint32_t waits);

#endif
