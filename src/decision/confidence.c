/* Confidence and completion: see confidence.h. */
#include "decision/confidence.h"

#include "decision/lines.h"

enum { CHECKS_WEIGHT = 6, BOXES_WEIGHT = 3, PROMISE_WEIGHT = 1, FAILING_CAP = 500, WORD_CAP = 600 };

/* In per mille, rounded down, so that only the whole is 1000. */
static int64_t share(int64_t part, int64_t whole)
{
	if (part <= 0 || whole <= 0)
		return 0;
	if (part >= whole)
		return 1000;
	/* Avoids an overflow; the lost digits are below per mille. */
	while (whole > INT64_MAX / 1000) {
		part /= 2;
		whole /= 2;
	}
	return part * 1000 / whole;
}

static uint32_t weigh(const struct confidence_evidence *e, int64_t checks_share)
{
	int64_t boxes = (int64_t)e->boxes_open + e->boxes_ticked;
	int64_t sum = 0;
	int64_t weights = 0;

	if (e->checks > 0) {
		sum += CHECKS_WEIGHT * checks_share;
		weights += CHECKS_WEIGHT;
	}
	if (boxes > 0) {
		sum += BOXES_WEIGHT * share(e->boxes_ticked, boxes);
		weights += BOXES_WEIGHT;
	}
	if (e->promise_wanted || e->promised) {
		sum += PROMISE_WEIGHT * (e->promised ? 1000 : 0);
		weights += PROMISE_WEIGHT;
	}
	return weights ? (uint32_t)(sum / weights) : 0;
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

uint32_t confidence_estimate(const struct confidence_evidence *e)
{
	uint32_t confidence = weigh(e, share(e->checks_held, e->checks));

	if (e->checks_held < e->checks)
		return at_most(confidence, FAILING_CAP);
	if (e->checks == 0 && e->boxes_open == 0 && e->boxes_ticked == 0)
		return at_most(confidence, WORD_CAP);
	return confidence;
}

uint32_t confidence_completion(const struct confidence_evidence *e)
{
	int64_t tests = lines_add(e->tests_passed, e->tests_failed);
	int64_t checks = share(e->checks_held, e->checks);

	if (e->checks_held < e->checks) {
		checks = ((int64_t)e->checks_held * 1000 + share(e->tests_passed, tests)) /
			 e->checks;
		return at_most(weigh(e, checks), 999);
	}
	return weigh(e, checks);
}
