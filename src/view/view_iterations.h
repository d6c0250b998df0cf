/*
 * The iterations of a loop, from its journal and its ledger: one entry for each attempt, oldest
 * first. A baseline (the checks before the first agent) is an entry with the number 0.
 *
 * Numbers are kept of at most VIEW_ITERATIONS_MOST entries, and texts of at most
 * VIEW_ITERATIONS_TEXT bytes each, however long the journal is. Texts are untrusted, and not
 * escaped.
 */
#ifndef VIEW_VIEW_ITERATIONS_H
#define VIEW_VIEW_ITERATIONS_H

#include "loop/client.h"
#include "price/price.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	VIEW_ITERATIONS_MOST = 100000,
	VIEW_ITERATIONS_TEXT = 300,
	VIEW_ITERATIONS_MODELS = 32, /* more models count as the last one, "other models" */
};

/* Requests to one model. */
struct view_use {
	uint32_t model; /* its index in the list of models */
	uint64_t requests;
	uint64_t tokens[PRICE_KINDS];
	int64_t cost_nusd, estimated_nusd;
};

enum view_check_kind {
	VIEW_CHECK_OWN,
	VIEW_CHECK_FINAL, /* the agent never sees it */
	VIEW_CHECK_PHASE
};

/* The last result of a check in an attempt. */
struct view_check {
	enum view_check_kind kind;
	uint32_t index;
	bool passed; /* it exited 0, and ran something */
	int code;
	int64_t tests_passed, tests_failed; /* -1: unknown */
	int64_t duration_ms;
};

/* Numbers that are not known are -1. */
struct view_iteration {
	uint32_t iteration, attempt;
	uint32_t part;      /* the index of its agent in the options */
	const char *phase;  /* its name in the options, or NULL */
	bool rechecked;     /* without an agent: only its end was missing */
	const char *action; /* the decision, as in the journal: "go on", "done" ...; or "running",
			     * "interrupted" */
	char *reason;       /* of the decision, or NULL */
	char *ended;        /* how its agent ended, if not well ("timeout", "exit 1"); or NULL */
	enum failure failure;
	bool progressed, counts;
	int64_t began_ms, ended_ms; /* ended_ms: 0 while it runs */
	int64_t agent_ms, checks_ms;
	struct view_check *checks;
	size_t check_count;
	int64_t checks_passing, tests_passing, tests_failing;
	int64_t files_changed;
	int64_t tool_calls, tool_errors, denials, quarantined;
	int64_t findings; /* signs that the changes so far weaken the checks */
	struct view_use *uses;
	size_t use_count;
	int64_t cost_nusd, estimated_nusd;
	uint64_t requests, tokens[PRICE_KINDS];
};

struct view_iterations {
	struct view_iteration *items;
	size_t count;
	size_t dropped; /* older entries, of which only the sums are known */
	struct list models;
	struct view_use *totals; /* one for each model */
	struct view_use total;   /* of all requests, also those of no iteration */
	bool replay;             /* nobody was paid */
	bool metered;            /* the ledger has lines; otherwise costs are those agents report */
	char *trouble;           /* why the ledger could not be read, or NULL */
};

/* Reads the iterations of a loop. Returns 0, or -1 with err set if the journal is damaged. */
int view_iterations_read(const struct client_loop *loop, struct view_iterations *ret_iterations,
			 struct error *err);
void view_iterations_release(struct view_iterations *iterations);

/* Returns the duration, of one that runs until now. */
int64_t view_iterations_lasted_ms(const struct view_iteration *item, int64_t now_ms);

#endif
