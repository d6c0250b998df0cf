/*
 * The limits of a loop, how much of each is used, and what the loop costs. Every view shows these
 * numbers: the terminal, watch, the web page, metrics.
 */
#ifndef VIEW_VIEW_LIMITS_H
#define VIEW_VIEW_LIMITS_H

#include "loop/client.h"

#include <stdbool.h>
#include <stdint.h>

/* The limits of a loop, and of its current iteration. */
#define VIEW_LIMITS(X)                                                    \
	X(iterations) /* used is the one under way; --max-iterations */   \
	X(time)       /* in ms, without pauses; --max-time */             \
	X(cost)       /* in nano-dollars; --max-cost */                   \
	X(timeout)    /* in ms: the agent of this iteration; --timeout */ \
	X(budget)     /* in nano-dollars: the agent of this iteration; --budget */

enum view_limit_kind {
#define VIEW_LIMIT(name) VIEW_LIMIT_##name,
	VIEW_LIMITS(VIEW_LIMIT)
#undef VIEW_LIMIT
		VIEW_LIMIT_COUNT
};

struct view_limit {
	int64_t used;
	int64_t total;     /* 0: there is no such limit, or it does not apply now */
	uint32_t permille; /* used of total, at most 1000; 0 without a limit */
};

struct view_limits {
	struct view_limit of[VIEW_LIMIT_COUNT];
	int64_t elapsed_ms;     /* since the loop began, without pauses */
	int64_t cost_nusd;      /* so far, with the requests of the iteration under way */
	int64_t estimated_nusd; /* its estimated part, as of the last iteration that ended */
	int64_t rate_nusd;      /* an hour, on average since the loop began; 0: too early to tell */
};

/* Returns the name of a limit, such as "iterations". */
const char *view_limits_name(enum view_limit_kind kind);

/* Reads the limits of a loop whose journal could be read. */
void view_limits_read(const struct client_loop *loop, int64_t now_ms,
		      struct view_limits *ret_limits);

/* Moves the clock of limits that were read a moment ago; reads no file. */
void view_limits_tick(struct view_limits *limits, const struct loop_state *state, int64_t now_ms);

/* The same, with a cost that is already known: reads no file. */
void view_limits_sum(const struct loop_state *state, int64_t cost_nusd, int64_t now_ms,
		     struct view_limits *ret_limits);

#endif
