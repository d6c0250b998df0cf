/* Races of candidates: see batch_race.h. */
#include "batch/batch_race.h"

static bool is_in(const struct batch_state *state, size_t task, size_t first)
{
	return task < state->count && state->tasks[task].first == first;
}

bool batch_race_has_landed(const struct batch_state *state, size_t first)
{
	for (size_t i = first; is_in(state, i, first); i++)
		if (state->tasks[i].step == BATCH_STEP_landed)
			return true;
	return false;
}

bool batch_race_has_failed(const struct batch_state *state, size_t first)
{
	for (size_t i = first; is_in(state, i, first); i++)
		if (state->tasks[i].step != BATCH_STEP_failed &&
		    state->tasks[i].step != BATCH_STEP_lost)
			return false;
	return true;
}

/* A candidate that is merged has won before. */
static bool has_won(const struct batch_state *state, const struct batch_task *task)
{
	switch (task->step) {
	case BATCH_STEP_landed:
		return true;
	case BATCH_STEP_verified:
		return !state->compare || task->picked || task->merged;
	case BATCH_STEP_running:
	case BATCH_STEP_held:
		return task->merged;
	default:
		return false;
	}
}

bool batch_race_is_lost(const struct batch_state *state, size_t task)
{
	size_t first = state->tasks[task].first;

	if (has_won(state, &state->tasks[task]))
		return false;
	for (size_t i = first; is_in(state, i, first); i++)
		if (i != task && has_won(state, &state->tasks[i]))
			return true;
	return false;
}

bool batch_race_is_unwanted(const struct batch_state *state, size_t task)
{
	return state->wish == BATCH_WISH_ABORT || batch_race_is_lost(state, task);
}

bool batch_race_waits(const struct batch_state *state, size_t task)
{
	return state->tasks[task].step == BATCH_STEP_verified &&
	       !has_won(state, &state->tasks[task]);
}
