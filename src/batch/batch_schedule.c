/* The next thing that a batch does: see batch_schedule.h. */
#include "batch/batch_schedule.h"

#include "batch/batch_race.h"
#include "batch/batch_sums.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <string.h>

/* ---- money ---- */

/* Returns the rest of a task's limit, which holds for each try. */
static int64_t own_nusd(const struct batch_task *task)
{
	return task->most_nusd - (task->spent_nusd - task->retried_nusd);
}

/* A task whose own money is spent may still merge, which usually costs nothing. */
int64_t batch_schedule_grant(const struct batch_state *state, size_t index)
{
	const struct batch_task *task = &state->tasks[index];
	int64_t left = state->most_nusd + task->grant_nusd;
	int64_t own = own_nusd(task);

	for (size_t i = 0; i < state->count; i++)
		left -= state->tasks[i].spent_nusd + state->tasks[i].grant_nusd;
	if (state->most_nusd && left <= 0)
		return -1;
	if (!task->most_nusd)
		return state->most_nusd ? left : 0;
	if (own < 1)
		own = 1;
	return state->most_nusd && left < own ? left : own;
}

static int64_t count_unlimited(const struct batch_state *state)
{
	int64_t count = 0;

	for (size_t i = 0; i < state->count; i++)
		count += state->tasks[i].step == BATCH_STEP_running && !state->tasks[i].grant_nusd;
	return count;
}

/* A loop that has spent all of its part reaches its limit at once, and waits for more money. */
int64_t batch_schedule_regrant(const struct batch_state *state, size_t index)
{
	int64_t present = state->tasks[index].grant_nusd;
	int64_t most = batch_schedule_grant(state, index);
	int64_t sharing = present ? 0 : count_unlimited(state);

	if (!most)
		return present;
	if (most > 0 && sharing && state->most_nusd)
		most /= sharing;
	if (most < 1)
		most = 1;
	return present && present < most ? present : most;
}

bool batch_schedule_is_cut(const struct batch_task *task)
{
	return task->grant_nusd && (!task->most_nusd || task->grant_nusd < own_nusd(task));
}

/* ---- which task ---- */

static bool is_busy(const struct batch_task *task)
{
	return task->step == BATCH_STEP_running || task->step == BATCH_STEP_verified;
}

static bool overlap(const json_t *files, const json_t *others)
{
	size_t i, k;
	const json_t *file, *other;

	json_array_foreach(files, i, file)
	{
		json_array_foreach(others, k, other)
		{
			if (path_within(json_string_value(file), json_string_value(other)) ||
			    path_within(json_string_value(other), json_string_value(file)))
				return true;
		}
	}
	return false;
}

/* Two tasks that name the same files do not run at once: their results would conflict. */
static bool files_are_free(const struct batch_state *state, const struct batch_task *task)
{
	const json_t *files = json_object_get(task->item, "files");

	for (size_t i = 0; json_array_size(files) && i < state->count; i++)
		if (is_busy(&state->tasks[i]) && state->tasks[i].first != task->first &&
		    overlap(files, json_object_get(state->tasks[i].item, "files")))
			return false;
	return true;
}

static bool is_ready(const struct batch_state *state, const struct batch_task *task)
{
	if (task->step != BATCH_STEP_waiting)
		return false;
	for (size_t i = 0; i < task->depend_count; i++)
		if (!batch_race_has_landed(state, task->depends[i]))
			return false;
	return files_are_free(state, task);
}

/* Finds the next task to begin: the first one of the lowest priority. */
static const struct batch_task *next_task(const struct batch_state *state)
{
	const struct batch_task *best = NULL;

	for (size_t i = 0; i < state->count; i++) {
		const struct batch_task *task = &state->tasks[i];

		if ((!best || task->priority < best->priority) && is_ready(state, task))
			best = task;
	}
	return best;
}

static bool is_current(const struct batch_state *state, const struct batch_task *task)
{
	return strcmp(state->tip ? state->tip : "", task->base ? task->base : "") == 0;
}

/*
 * Does a result land before another one? First are those that need no merge, or each merge would be
 * in vain: the next one would begin before it has landed. Then those that were merged most often.
 */
static bool is_before(const struct batch_state *state, const struct batch_task *task,
		      const struct batch_task *other)
{
	bool current = is_current(state, task);

	if (current != is_current(state, other))
		return current;
	return task->rounds != other->rounds ? task->rounds > other->rounds
					     : task->ended_ms < other->ended_ms;
}

static const struct batch_task *first_verified(const struct batch_state *state)
{
	const struct batch_task *first = NULL;

	for (size_t i = 0; i < state->count; i++) {
		const struct batch_task *task = &state->tasks[i];

		if (task->step == BATCH_STEP_verified && !batch_race_waits(state, i) &&
		    (!first || is_before(state, task, first)))
			first = task;
	}
	return first;
}

/* ---- decisions ---- */

/* Lands the first result, or merges it into the tip. Returns false if that has to wait. */
static bool land(const struct batch_state *state, const bool *deciding, size_t running,
		 struct batch_action *ret_action)
{
	const struct batch_task *task = first_verified(state);

	for (size_t i = 0; task && i < state->count; i++)
		if (deciding[i])
			return false;
	if (!task)
		return false;
	ret_action->task = (size_t)(task - state->tasks);
	if (is_current(state, task)) {
		ret_action->kind = BATCH_ACTION_LAND;
		return true;
	}
	if (task->rounds >= state->rounds) {
		ret_action->kind = BATCH_ACTION_REFUSE;
		snprintf(ret_action->reason, sizeof ret_action->reason,
			 "other results landed first, %u times (the most: --rounds %u); its own "
			 "is in loop %s",
			 task->rounds, state->rounds, task->loop);
		return true;
	}
	if (running >= state->jobs)
		return false;
	ret_action->kind = BATCH_ACTION_MERGE;
	ret_action->grant_nusd = batch_schedule_grant(state, ret_action->task);
	return ret_action->grant_nusd >= 0;
}

static bool begin(const struct batch_state *state, size_t running, struct batch_action *ret_action)
{
	const struct batch_task *task = running < state->jobs ? next_task(state) : NULL;

	if (!task)
		return false;
	ret_action->kind = BATCH_ACTION_BEGIN;
	ret_action->task = (size_t)(task - state->tasks);
	ret_action->grant_nusd = batch_schedule_grant(state, ret_action->task);
	return ret_action->grant_nusd >= 0;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Counts the tasks of which a person has to pick a candidate. */
static size_t count_choices(const struct batch_state *state)
{
	size_t count = 0;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < state->count; i++)
		if (batch_race_waits(state, i) && state->tasks[i].first != last) {
			last = state->tasks[i].first;
			count++;
		}
	return count;
}

/* Finds a candidate that has lost, and whose loop need not be stopped. */
static bool lose(const struct batch_state *state, struct batch_action *ret_action)
{
	for (size_t i = 0; i < state->count; i++) {
		enum batch_step step = state->tasks[i].step;

		if ((step != BATCH_STEP_waiting && step != BATCH_STEP_verified) ||
		    !batch_race_is_lost(state, i))
			continue;
		*ret_action = (struct batch_action){ .kind = BATCH_ACTION_LOSE, .task = i };
		return true;
	}
	return false;
}

static void say_failed(size_t failed, size_t cut_off, char *reason, size_t size)
{
	if (cut_off)
		snprintf(reason, size, "%zu task%s failed, and %zu depend%s on %s", failed,
			 plural(failed), cut_off, cut_off == 1 ? "s" : "",
			 failed == 1 ? "it" : "them");
	else
		snprintf(reason, size, "%zu task%s failed", failed, plural(failed));
}

/* Nothing runs and nothing can begin. */
static void stop(const struct batch_state *state, const struct batch_sums *sums,
		 struct batch_action *ret_action)
{
	size_t held = sums->steps[BATCH_STEP_held];
	size_t failed = sums->failed;
	size_t open = sums->tasks - sums->landed - failed - sums->cut_off;
	size_t choices = count_choices(state);
	char *reason = ret_action->reason;
	size_t size = sizeof ret_action->reason;

	*ret_action = (struct batch_action){ .kind = BATCH_ACTION_PAUSE };
	if (state->wish == BATCH_WISH_PAUSE) {
		snprintf(reason, size, "%s", state->reason ? state->reason : "by you");
	} else if (held) {
		snprintf(reason, size, "%zu task%s for you", held, held == 1 ? " waits" : "s wait");
	} else if (choices) {
		snprintf(reason, size,
			 "%zu task%s for your choice (ringfence work --pick CANDIDATE)", choices,
			 choices == 1 ? " waits" : "s wait");
	} else if (open) {
		snprintf(reason, size,
			 "the limit of cost is reached, with %zu task%s left (to go on: "
			 "ringfence work --resume --max-cost USD)",
			 open, plural(open));
	} else {
		ret_action->kind = BATCH_ACTION_FINISH;
		ret_action->status = failed ? "failed" : "completed";
		if (failed)
			say_failed(failed, sums->cut_off, reason, size);
	}
}

void batch_schedule(const struct batch_state *state, const bool *deciding,
		    struct batch_action *ret_action)
{
	struct batch_sums sums;
	size_t running;

	batch_sums_count(state, &sums);
	running = sums.steps[BATCH_STEP_running];
	if (lose(state, ret_action))
		return;
	*ret_action = (struct batch_action){ .kind = BATCH_ACTION_WAIT };
	if (state->wish == BATCH_WISH_ABORT) {
		if (!running && !sums.steps[BATCH_STEP_held])
			*ret_action = (struct batch_action){ .kind = BATCH_ACTION_FINISH,
							     .status = "aborted",
							     .reason = "by you" };
		return;
	}
	if (state->wish == BATCH_WISH_NONE &&
	    (land(state, deciding, running, ret_action) || begin(state, running, ret_action)))
		return;
	*ret_action = (struct batch_action){ .kind = BATCH_ACTION_WAIT };
	if (!running)
		stop(state, &sums, ret_action);
}
