/*
 * Estimates the cost and time of a loop before it starts: low, likely and high. Pure functions.
 *
 * An agent works in requests. Each one sends the whole conversation: what is new is written to the
 * provider's cache, the rest is read from there. So the cost of an iteration follows from the
 * number of requests, the first context (prompt, instructions, tools), what the agent reads of the
 * repository and of its commands, and what it writes. The assumptions are the table in estimate.c;
 * docs/preflight.md explains them.
 *
 * If the user has had a few loops with the same agent and model, their cost and time per iteration,
 * and their iterations, replace the assumptions. The limits of the loop cap the result.
 */
#ifndef ESTIMATE_ESTIMATE_H
#define ESTIMATE_ESTIMATE_H

#include "price/price.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ESTIMATE_LOW, ESTIMATE_LIKELY, ESTIMATE_HIGH, ESTIMATE_LEVELS };

/* Fewer past loops than this say little. */
enum { ESTIMATE_LEAST_PAST = 3 };

/* A loop that has ended. */
struct estimate_past {
	uint64_t iterations;    /* at least 1 */
	uint64_t cost_nusd, ms; /* of all of them */
};

/* A limit of 0 means that there is none. */
struct estimate_facts {
	const struct price_table *prices;
	const struct price_model *model; /* NULL: free, if `local`; else the cost is unknown */
	bool local;
	uint64_t prompt_bytes;
	uint64_t source_bytes; /* of the repository */
	const struct estimate_past *past;
	size_t past_count;
	uint64_t most_iterations, most_ms, iteration_ms, iteration_nusd, most_nusd;
};

struct estimate {
	bool priced;      /* the costs are known */
	bool from_past;   /* iterations, time and cost are those of past loops */
	bool capped_nusd; /* a limit lowers the highest cost */
	bool capped_ms;
	uint64_t iterations[ESTIMATE_LEVELS];
	uint64_t nusd[ESTIMATE_LEVELS];
	uint64_t ms[ESTIMATE_LEVELS];
};

struct estimate estimate_loop(const struct estimate_facts *facts);

/* The tokens that an agent at work uses in an hour, by kind, and what they cost with a model. */
extern const struct price_use estimate_hour;
extern const uint64_t estimate_hour_requests;
uint64_t estimate_hour_nusd(const struct price_table *prices, const struct price_model *model);

#endif
