/* Sums over the tasks of a batch: see batch_sums.h. */
#include "batch/batch_sums.h"

#include "batch/batch_race.h"
#include "util/mem.h"

#include <stdlib.h>

bool *batch_sums_cut_off(const struct batch_state *state)
{
	bool *cut_off = mem_zero(state->count + 1);

	for (size_t i = 0; i < state->count; i++) {
		size_t at = state->order[i];
		const struct batch_task *task = &state->tasks[at];

		for (size_t k = 0; task->step == BATCH_STEP_waiting && k < task->depend_count; k++)
			if (cut_off[task->depends[k]] ||
			    batch_race_has_failed(state, task->depends[k]))
				cut_off[at] = true;
	}
	return cut_off;
}

void batch_sums_count(const struct batch_state *state, struct batch_sums *ret_sums)
{
	AUTO_FREE bool *cut_off = batch_sums_cut_off(state);

	*ret_sums = (struct batch_sums){ 0 };
	for (size_t i = 0; i < state->count; i++) {
		bool first = state->tasks[i].first == i;

		ret_sums->steps[state->tasks[i].step]++;
		ret_sums->spent_nusd += state->tasks[i].spent_nusd;
		ret_sums->tasks += first;
		ret_sums->landed += first && batch_race_has_landed(state, i);
		ret_sums->failed += first && batch_race_has_failed(state, i);
		ret_sums->cut_off += first && cut_off[i];
	}
}
