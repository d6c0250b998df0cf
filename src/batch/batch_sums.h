/* Sums over the tasks of a batch. */
#ifndef BATCH_BATCH_SUMS_H
#define BATCH_BATCH_SUMS_H

#include "batch/batch_state.h"

struct batch_sums {
	size_t steps[BATCH_STEP_COUNT]; /* candidates in each step */
	size_t tasks, landed, failed;   /* tasks, whose candidates count as one */
	size_t cut_off;                 /* tasks that depend on one that has failed */
	int64_t spent_nusd;
};

void batch_sums_count(const struct batch_state *state, struct batch_sums *ret_sums);

/* Reports for each task whether it depends, directly or not, on one that has failed. The caller
 * frees the array. */
bool *batch_sums_cut_off(const struct batch_state *state);

#endif
