/* The estimate of a loop: see estimate.h. */
#include "estimate/estimate.h"

#include "util/mem.h"

#include <stdlib.h>

enum { BYTES_PER_TOKEN = 4 };

/*
 * One iteration of a coding agent. Instructions and tools of the known agents are 5,000 to 20,000
 * tokens long. `read` is the most that it reads of a repository; a smaller one is read whole.
 */
static const struct assumption {
	uint64_t iterations;
	uint64_t requests;
	uint64_t instructions; /* tokens */
	uint64_t read;         /* tokens */
	uint64_t results;      /* tokens per request: output of commands, and edits */
	uint64_t output;       /* tokens per request */
	uint64_t request_ms, check_ms;
} assumptions[ESTIMATE_LEVELS] = {
	[ESTIMATE_LOW] = { 1, 10, 6000, 6000, 200, 150, 4000, 5000 },
	[ESTIMATE_LIKELY] = { 3, 35, 12000, 30000, 500, 350, 8000, 30000 },
	[ESTIMATE_HIGH] = { 12, 120, 20000, 90000, 900, 700, 15000, 180000 },
};

/* An agent at work for an hour: 240 requests with a context of 50,000 tokens each. */
const uint64_t estimate_hour_requests = 240;
const struct price_use estimate_hour = {
	.tokens = { [PRICE_WRITE_5M] = 360000, [PRICE_READ] = 12000000, [PRICE_OUTPUT] = 84000 }
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A limit of 0 means that there is none. */
static uint64_t capped(uint64_t value, uint64_t most)
{
	return most ? least(value, most) : value;
}

/* ---- one iteration ---- */

/* The cost of one request: `fresh` tokens are new, the others of the context are cached. Models
 * without a price for writing to the cache charge the usual one. */
static uint64_t request_nusd(const struct price_table *prices, const struct price_model *model,
			     uint64_t fresh, uint64_t cached, uint64_t output)
{
	bool writes = model->tiers[0].priced[PRICE_WRITE_5M];
	struct price_use use = { .tokens = { [PRICE_READ] = cached, [PRICE_OUTPUT] = output } };

	use.tokens[writes ? PRICE_WRITE_5M : PRICE_INPUT] = fresh;
	return price_cost(prices, model, &use, NULL);
}

static uint64_t iteration_nusd(const struct estimate_facts *facts, const struct assumption *assumed)
{
	uint64_t read = least(facts->source_bytes / BYTES_PER_TOKEN, assumed->read);
	uint64_t fresh = assumed->instructions + facts->prompt_bytes / BYTES_PER_TOKEN;
	uint64_t context = 0;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < assumed->requests; i++) {
		sum += request_nusd(facts->prices, facts->model, fresh, context, assumed->output);
		context += fresh + assumed->output;
		fresh = assumed->results + read / assumed->requests;
	}
	return sum;
}

/* ---- the limits ---- */

/* Sets one level, as far as the limits of the loop allow. */
static void set_level(const struct estimate_facts *facts, int level,
		      const struct estimate_past *one, struct estimate *estimate)
{
	uint64_t n = capped(one->iterations, facts->most_iterations);
	uint64_t ms = capped(n * capped(one->ms, facts->iteration_ms), facts->most_ms);
	uint64_t nusd = capped(n * capped(one->cost_nusd, facts->iteration_nusd), facts->most_nusd);

	estimate->iterations[level] = n;
	estimate->ms[level] = ms;
	estimate->nusd[level] = facts->local ? 0 : nusd;
	if (level == ESTIMATE_HIGH) {
		estimate->capped_ms = ms < one->iterations * one->ms;
		estimate->capped_nusd = !facts->local && nusd < one->iterations * one->cost_nusd;
	}
}

static void assume(const struct estimate_facts *facts, struct estimate *estimate)
{
	for (int i = 0; i < ESTIMATE_LEVELS; i++) {
		const struct assumption *assumed = &assumptions[i];

		set_level(facts, i,
			  &(struct estimate_past){
				  .iterations = assumed->iterations,
				  .cost_nusd = facts->model ? iteration_nusd(facts, assumed) : 0,
				  .ms = assumed->requests * assumed->request_ms +
					assumed->check_ms },
			  estimate);
	}
}

/* ---- past loops ---- */

static int by_size(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Sets the tenth, the half and the nine tenths of the values, which are sorted. */
static void spread(uint64_t *values, size_t count, uint64_t ret_levels[ESTIMATE_LEVELS])
{
	qsort(values, count, sizeof *values, by_size);
	ret_levels[ESTIMATE_LOW] = values[count / 10];
	ret_levels[ESTIMATE_LIKELY] = values[count / 2];
	ret_levels[ESTIMATE_HIGH] = values[count - 1 - count / 10];
}

enum { ITERATIONS, NUSD_EACH, MS_EACH, MEASURES };

static uint64_t measure(const struct estimate_past *past, int what)
{
	return what == ITERATIONS  ? past->iterations
	       : what == NUSD_EACH ? past->cost_nusd / past->iterations
				   : past->ms / past->iterations;
}

static void learn(const struct estimate_facts *facts, struct estimate *estimate)
{
	AUTO_FREE uint64_t *values = mem_zero(facts->past_count * sizeof *values);
	uint64_t levels[MEASURES][ESTIMATE_LEVELS];

	for (int what = 0; what < MEASURES; what++) {
		for (size_t i = 0; i < facts->past_count; i++)
			values[i] = measure(&facts->past[i], what);
		spread(values, facts->past_count, levels[what]);
	}
	for (int i = 0; i < ESTIMATE_LEVELS; i++)
		set_level(facts, i,
			  &(struct estimate_past){ .iterations = levels[ITERATIONS][i],
						   .cost_nusd = levels[NUSD_EACH][i],
						   .ms = levels[MS_EACH][i] },
			  estimate);
}

/* ---- the whole ---- */

struct estimate estimate_loop(const struct estimate_facts *facts)
{
	struct estimate estimate = { .from_past = facts->past_count >= ESTIMATE_LEAST_PAST };

	if (estimate.from_past)
		learn(facts, &estimate);
	else
		assume(facts, &estimate);
	/* Past loops may have told their cost although the model is not known. */
	estimate.priced = facts->model || facts->local ||
			  (estimate.from_past && estimate.nusd[ESTIMATE_HIGH]);
	return estimate;
}

uint64_t estimate_hour_nusd(const struct price_table *prices, const struct price_model *model)
{
	const uint64_t *tokens = estimate_hour.tokens;
	uint64_t n = estimate_hour_requests;

	/* Prices can depend on the size of one request. */
	return n * request_nusd(prices, model, tokens[PRICE_WRITE_5M] / n, tokens[PRICE_READ] / n,
				tokens[PRICE_OUTPUT] / n);
}
