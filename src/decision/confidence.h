/*
 * How sure it is that the work is done, and how much of it is: functions of evidence, in per mille.
 *
 * There are three kinds of evidence, with a weight each: checks 6, boxes 3, the promise 1. Only
 * what there is counts: checks if any ran, boxes if the list has any, the promise if it is asked
 * for or was given.
 *
 *   1000 * (6 * checks held / checks + 3 * ticked / boxes + 1 * promise) / (sum of the weights)
 *
 * with two caps: 500 while a check fails or is vacuous, 600 if the promise is the only evidence. A
 * check holds if it ended with 0 and was not vacuous. Without evidence it is 0.
 *
 * Completion is the same sum, without the caps, and with what the tests say about the checks that
 * do not hold: if 30 of 40 tests pass, the failing checks count three quarters of one check. It is
 * 1000 only if everything holds.
 */
#ifndef DECISION_CONFIDENCE_H
#define DECISION_CONFIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct confidence_evidence {
	uint32_t checks;
	uint32_t checks_held; /* ended with 0 and ran something */
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
