/*
 * How certain it is that the work is done, and how much is done: functions of the evidence, in per
 * mille.
 *
 * There are three kinds of evidence, each with a weight: checks 6, boxes 3, the promise 1. Only
 * existing evidence counts: checks if any ran, boxes if the list has any, the promise if it is
 * configured or was given.
 *
 *   1000 * (6 * checks held / checks + 3 * ticked / boxes + 1 * promise) / (sum of the weights)
 *
 * with two caps: 500 while a check fails or is vacuous, 600 if the promise is the only evidence. A
 * check holds if it exited 0 and was not vacuous. Without evidence the result is 0.
 *
 * Completion is the same sum without the caps, but failing checks count by their tests: if 30 of 40
 * tests pass, the failing checks count as three quarters of one check. It is 1000 only if
 * everything holds.
 */
#ifndef DECISION_CONFIDENCE_H
#define DECISION_CONFIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct confidence_evidence {
	uint32_t checks;
	uint32_t checks_held; /* exited 0 and ran something */
	int64_t tests_passed;
	int64_t tests_failed;
	uint32_t boxes_open;
	uint32_t boxes_ticked;
	bool promise_wanted;
	bool promised;
};

uint32_t confidence_estimate(const struct confidence_evidence *evidence);
uint32_t confidence_completion(const struct confidence_evidence *evidence);

#endif
