/* The estimate of a loop's cost and time. */
#include "unit.h"

#include "estimate/estimate.h"

#include <string.h>

static struct price_table prices;

static struct estimate_facts facts_of(const char *model)
{
	return (struct estimate_facts){ .prices = &prices,
					.model = price_find(&prices, model),
					.prompt_bytes = 400,
					.source_bytes = 1 << 20 };
}

static bool is_ordered(const uint64_t levels[ESTIMATE_LEVELS])
{
	return levels[ESTIMATE_LOW] < levels[ESTIMATE_LIKELY] &&
	       levels[ESTIMATE_LIKELY] < levels[ESTIMATE_HIGH];
}

static void test_assumptions(void)
{
	struct estimate_facts facts = facts_of("claude-sonnet-4-5");
	struct estimate usual = estimate_loop(&facts);
	struct estimate other;

	CHECK("without past loops, assumptions and prices decide",
	      usual.priced && !usual.from_past && is_ordered(usual.nusd) && is_ordered(usual.ms) &&
		      is_ordered(usual.iterations));
	CHECK("an iteration costs between a cent and ten dollars",
	      usual.nusd[ESTIMATE_LOW] > 10000000 &&
		      usual.nusd[ESTIMATE_HIGH] / usual.iterations[ESTIMATE_HIGH] < 10000000000);
	facts.model = price_find(&prices, "claude-opus-4-1");
	other = estimate_loop(&facts);
	CHECK("a model of five times the price costs five times as much",
	      other.nusd[ESTIMATE_LIKELY] == 5 * usual.nusd[ESTIMATE_LIKELY]);
	facts = facts_of("claude-sonnet-4-5");
	facts.source_bytes = 1000;
	CHECK("a small repository costs less",
	      estimate_loop(&facts).nusd[ESTIMATE_LIKELY] < usual.nusd[ESTIMATE_LIKELY]);
	facts.prompt_bytes = 200000;
	CHECK("a long objective costs more",
	      estimate_loop(&facts).nusd[ESTIMATE_LIKELY] > usual.nusd[ESTIMATE_LIKELY]);
	facts.model = price_find(&prices, "gpt-5.5");
	CHECK("a model without a price for cache writes has an estimate",
	      facts.model && is_ordered(estimate_loop(&facts).nusd));
	facts.model = NULL;
	other = estimate_loop(&facts);
	CHECK("the cost with an unknown model is unknown, not 0",
	      !other.priced && is_ordered(other.ms));
	facts.local = true;
	other = estimate_loop(&facts);
	CHECK("a local model costs nothing", other.priced && !other.nusd[ESTIMATE_HIGH]);
}

static void test_limits(void)
{
	struct estimate_facts facts = facts_of("claude-sonnet-4-5");
	struct estimate free_of = estimate_loop(&facts);
	struct estimate capped;

	facts.most_iterations = 2;
	facts.most_nusd = 1000000000;
	facts.most_ms = 600000;
	capped = estimate_loop(&facts);
	CHECK("the limits of the loop cap the estimate",
	      capped.iterations[ESTIMATE_HIGH] == 2 && capped.nusd[ESTIMATE_HIGH] == 1000000000 &&
		      capped.ms[ESTIMATE_HIGH] == 600000);
	CHECK("it says so",
	      capped.capped_nusd && capped.capped_ms && !free_of.capped_nusd && !free_of.capped_ms);
	facts = facts_of("claude-sonnet-4-5");
	facts.iteration_nusd = 1000000;
	facts.iteration_ms = 1000;
	capped = estimate_loop(&facts);
	CHECK("so do the limits of an iteration",
	      capped.nusd[ESTIMATE_HIGH] == 1000000 * capped.iterations[ESTIMATE_HIGH] &&
		      capped.ms[ESTIMATE_HIGH] == 1000 * capped.iterations[ESTIMATE_HIGH] &&
		      capped.capped_nusd && capped.capped_ms);
}

static void test_past(void)
{
	const struct estimate_past past[] = { { 4, 4000, 40000 },
					      { 1, 500, 2000 },
					      { 2, 6000, 8000 } };
	struct estimate_facts facts = facts_of("claude-sonnet-4-5");
	struct estimate learned;

	facts.past = past;
	facts.past_count = 2;
	CHECK("two past loops are too few", !estimate_loop(&facts).from_past);
	facts.past_count = 3;
	learned = estimate_loop(&facts);
	CHECK("three past loops replace the assumptions",
	      learned.from_past && learned.iterations[ESTIMATE_LOW] == 1 &&
		      learned.iterations[ESTIMATE_LIKELY] == 2 &&
		      learned.iterations[ESTIMATE_HIGH] == 4);
	CHECK("cost and time are those of an iteration, times iterations",
	      learned.nusd[ESTIMATE_LOW] == 500 && learned.nusd[ESTIMATE_LIKELY] == 2 * 1000 &&
		      learned.nusd[ESTIMATE_HIGH] == 4 * 3000 &&
		      learned.ms[ESTIMATE_LIKELY] == 2 * 4000 &&
		      learned.ms[ESTIMATE_HIGH] == 4 * 10000);
	facts.model = NULL;
	CHECK("past loops know their cost although the model has no price",
	      estimate_loop(&facts).priced);
}

static void test_hour(void)
{
	const struct price_model *cheap = price_find(&prices, "claude-haiku-4-5");
	const struct price_model *dear = price_find(&prices, "claude-opus-4-1");

	/* 0.36 million written at 18.75, 12 million read at 1.50, 0.084 million returned at 75. */
	CHECK("an hour of work costs what its tokens cost",
	      estimate_hour_nusd(&prices, dear) == 31050000000);
	CHECK("with a cheaper model, less",
	      estimate_hour_nusd(&prices, cheap) < estimate_hour_nusd(&prices, dear));
}

int main(void)
{
	struct error err;

	if (price_table_init(&prices, &err) < 0)
		return 1;
	test_assumptions();
	test_limits();
	test_past();
	test_hour();
	price_table_release(&prices);
	return unit_failures != 0;
}
