/* The facts that a decision is made from, and the decision itself: see decision.h. */
#ifndef DECISION_DECISION_INPUT_H
#define DECISION_DECISION_INPUT_H

#include "decision/boxes.h"
#include "decision/breaker.h"
#include "decision/confidence.h"
#include "decision/phase.h"
#include "decision/progress.h"
#include "failure/failure.h"

enum {
	DECISION_REASONS_MAX = 12,
	DECISION_REASON_SIZE = 480,
	DECISION_BLOCKED_BYTES = 300, /* of an agent's words in a reason */
	DECISION_BACK_OFF_FIRST_S = 30,
	DECISION_BACK_OFF_MOST_S = 900,
	/* After this many waits in a row, a stated time sooner than the back-off is ignored. */
	DECISION_STATED_WAITS = 3,
	/* A reviewer without an opinion is asked this often, one that is cut off so often. */
	DECISION_REVIEW_ANSWERS = 2,
	DECISION_REVIEW_RUNS = 6,
	DECISION_AGENTS_MAX = 16,
};

enum decision_action {
	DECISION_DONE,
	DECISION_MUTATE,
	DECISION_REVIEW,
	DECISION_GO_ON,
	DECISION_WAIT,
	DECISION_PAUSE,
	DECISION_LIMIT,
	DECISION_FAILED,
	DECISION_ACTIONS
};

enum decision_limit {
	DECISION_LIMIT_NONE,
	DECISION_LIMIT_ITERATIONS,
	DECISION_LIMIT_TIME,
	DECISION_LIMIT_COST,
	DECISION_LIMIT_EARLY,
};

/* 0 turns a limit off. Costs are in nano-dollars: 1,000,000,000 is US$ 1. */
struct decision_limits {
	uint32_t iterations;       /* --max-iterations */
	int64_t total_s;           /* --max-time */
	int64_t cost_nusd;         /* --max-cost */
	int64_t cost_warning_nusd; /* --warn-cost */
	bool pause_on_warning;     /* --pause-on-warning */
	uint32_t unreachable;      /* --max-unreachable: waits in a row */
	uint32_t early_stop;       /* --early-stop: confidence in per mille */
	uint32_t early_stop_after; /* --early-stop-after: iterations without progress */
	bool results_only;         /* --progress results: new files alone are not progress */
};

/* 20 iterations, 8 h, US$ 25, pause at US$ 15, early stop at 0.95 after 2 iterations. */
#define DECISION_LIMITS_DEFAULT                                               \
	((struct decision_limits){ .iterations = 20,                          \
				   .total_s = 8 * 3600,                       \
				   .cost_nusd = INT64_C(25000000000),         \
				   .cost_warning_nusd = INT64_C(15000000000), \
				   .pause_on_warning = true,                  \
				   .unreachable = 6,                          \
				   .early_stop = 950,                         \
				   .early_stop_after = 2 })

/* The rules for when the work is done. All that are set must hold. */
struct decision_rules {
	bool checks;
	bool promise;
	bool boxes;
};

/*
 * The agents in the order of preference, then stronger ones to climb to when the work is
 * stalled, the weakest first. All of them are known by their index in the arrays.
 */
struct decision_agents {
	uint32_t count;
	uint32_t rungs;       /* the stronger ones */
	uint32_t current;     /* the one that worked last */
	uint32_t level;       /* the present rung, from 1; 0: none */
	uint32_t stalled;     /* iterations at this level without progress in a row */
	uint32_t climb_after; /* --escalate-after; 0: never */
	int64_t patience_s;   /* --patience: a longer limit hands over; 0: never */
	int64_t limited_until[DECISION_AGENTS_MAX]; /* when a provider's limit is over, or 0 */
	const char *names[DECISION_AGENTS_MAX];
};

/* The second opinion on the work of this iteration. */
struct decision_review {
	bool wanted;
	bool given;            /* the reviewer had a readable answer: */
	uint32_t blocking;     /* findings that reopen the loop */
	uint32_t rounds;       /* reviews with such findings since a person last looked, before */
	uint32_t most_rounds;  /* --review-rounds; 0: no limit */
	uint32_t runs;         /* how often the reviewer was started */
	uint32_t unanswered;   /* how often it ended without an opinion */
	enum failure failure;  /* of the last run */
	int64_t reset_at;      /* when the limit of its provider is over, or 0 */
	const char *unreached; /* as below, for the reviewer */
	const char *why;       /* why its last answer was not an opinion, or NULL */
};

struct decision_input {
	int64_t now;
	int64_t started_at;     /* start of the loop */
	uint32_t iterations;    /* used before this one */
	int64_t cost_nusd;      /* of the whole loop, including this iteration */
	int64_t estimated_nusd; /* its estimated part */
	bool warned;            /* about the cost, in an earlier decision */
	uint32_t waits;         /* in a row, from the previous decision */
	struct decision_limits limits;
	struct decision_rules rules;
	struct breaker breakers[BREAKER_COUNT]; /* from the previous decision */
	/* A check that nobody chose, or NULL. It cannot end a loop alone. */
	const char *found;

	/* Set only after an iteration. */
	struct failure_facts facts;
	/* why a model server cannot be reached, or the gateway refused a request; or NULL */
	const char *unreached;
	/* why the gateway refused a request that the agent did without, or NULL */
	const char *policy_why;
	struct boxes boxes;
	int64_t tests_passed;
	int64_t tests_failed;
	/* Signs that the changes weaken the checks, which nobody has accepted: those that need a
	 * person's review, and those that stop the loop. */
	uint32_t findings_review, findings_stop;
	uint32_t untested; /* of these: lines of which no check notices a change */
	bool mutate;       /* such lines are still to be sought */
	/* Checks that fail, and pass with the agent's version of pinned files, which does not
	 * count. */
	uint32_t checks_own;
	bool findings_told; /* the agent has been told about such a sign */
	bool pins_told;     /* the agent has been told of such checks */
	bool promised;
	const char *blocked; /* what a person must do, by the agent's last words; or NULL */
	uint32_t unread;     /* messages of the user that no agent has read yet */
	struct decision_agents agents;
	struct decision_review review;
	struct phase_facts phase; /* also set before an iteration */
	/* Final checks, which run only when every rule holds. */
	bool final_failed;
	uint32_t final_failures; /* before this iteration */
	uint32_t final_tries;    /* --final-tries; 0: no limit */
	uint64_t signature;      /* of the failure, see excerpt_signature() */
	struct progress_snapshot snapshot;
	const struct progress_snapshot *earlier; /* latest first */
	size_t earlier_count;
};

struct decision {
	enum decision_action action;
	bool should_continue; /* without a person: go on or wait */
	bool counts_as_iteration;
	enum failure failure;
	enum decision_limit limit; /* for DECISION_LIMIT */
	enum breaker_kind breaker; /* for DECISION_FAILED */
	int64_t wait_until;        /* for DECISION_WAIT */
	uint32_t completion;       /* per mille */
	uint32_t confidence;       /* per mille */
	bool progressed;
	struct progress progress;

	/* To be stored and passed to the next decision. */
	uint32_t iterations;
	uint32_t waits;
	bool warned;
	bool findings_told;
	bool pins_told;
	uint32_t review_rounds;
	int64_t limited_until; /* when the limit of the agent's provider is over; 0: none */
	uint32_t level, stalled;
	bool only_findings; /* a person only has to accept the findings */
	bool next_phase;    /* the phase is over, or its limit ends it: the next one begins */
	bool recheck;       /* the agent has done its part: the next iteration needs none */
	bool blocked;       /* the loop pauses because the agent is blocked */
	uint32_t final_failures;
	struct breaker breakers[BREAKER_COUNT];

	uint32_t reason_count;
	/* The first one explains the action. */
	char reasons[DECISION_REASONS_MAX][DECISION_REASON_SIZE];
};

#endif
