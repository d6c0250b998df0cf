/* Beginning and continuing the loops of a batch: see batch_begin.h. */
#include "batch/batch_begin.h"

#include "batch/batch_race.h"
#include "util/mem.h"

enum { START_TRIES = 3 };

/* Records that a task begins a loop, with a new id. merges: the loop whose result it merges, or
 * NULL. */
static int append_begun(struct batch_run *run, size_t task, const char *base, const char *merges,
			int64_t grant_nusd, struct error *err)
{
	AUTO_FREE char *id = client_reserve(run->home, err);

	return id ? batch_run_append(run, BATCH_EVENT_begun,
				     json_pack("{s:s, s:s, s:s*, s:s*, s:I}", "task",
					       run->state.tasks[task].id, "loop", id, "base", base,
					       "merges", merges, "grant_nusd",
					       (json_int_t)grant_nusd),
				     err)
		  : -1;
}

/* Gives the loop of a task another id: the start of the first one was interrupted. */
static int begin_again(struct batch_run *run, size_t task, struct error *err)
{
	const struct batch_task *at = &run->state.tasks[task];

	return append_begun(run, task, at->base, at->merged, at->grant_nusd, err);
}

/* Starts the loop of a task that has begun, and watches it. If that is impossible, the batch
 * pauses: the next task would fail likewise. */
static int start_loop(struct batch_run *run, size_t task, bool resume, struct error *err)
{
	struct error why;

	for (int i = 0; i < START_TRIES; i++) {
		if (batch_loop_start(&run->state, &run->place, task, resume, &why) == 0)
			return batch_watch_add(&run->watch, task, run->state.tasks[task].loop, err);
		if (why.status == ERROR_EXISTS && begin_again(run, task, err) < 0)
			return -1;
		if (why.status != ERROR_BUSY && why.status != ERROR_EXISTS)
			break;
	}
	run->deciding[task] = false;
	if (batch_run_append_task(run, BATCH_EVENT_held, task, why.text, err) < 0)
		return -1;
	return run->state.wish == BATCH_WISH_NONE
		       ? batch_run_append(run, BATCH_EVENT_asked,
					  json_pack("{s:s, s:o}", "wish", "pause", "why",
						    client_text(why.text)),
					  err)
		       : 0;
}

int batch_begin_loop(struct batch_run *run, const struct batch_action *action, struct error *err)
{
	bool merge = action->kind == BATCH_ACTION_MERGE;
	const char *merges = merge ? run->state.tasks[action->task].loop : NULL;

	if (append_begun(run, action->task, run->state.tip, merges, action->grant_nusd, err) < 0)
		return -1;
	run->deciding[action->task] = merge;
	return start_loop(run, action->task, false, err);
}

/* Would the agent of a task that is held only say once more that it is blocked? */
static bool lacks_answer(const struct batch_run *run, size_t task)
{
	const struct loop_state *state = &run->watch.loops[task].loop.state;

	return state->step == LOOP_STEP_paused && state->blocked && !loop_state_unread(state);
}

int batch_begin_unhold(struct batch_run *run, size_t task, struct error *err)
{
	const struct batch_task *at = &run->state.tasks[task];
	int64_t grant_nusd = batch_schedule_grant(&run->state, task);

	if (!at->wanted || run->state.wish != BATCH_WISH_NONE ||
	    batch_race_is_unwanted(&run->state, task))
		return 0;
	if (grant_nusd < 0 || lacks_answer(run, task))
		return batch_run_append_task(run, BATCH_EVENT_held, task, at->reason, err);
	return batch_run_append(run, BATCH_EVENT_unheld,
				json_pack("{s:s, s:I}", "task", at->id, "grant_nusd",
					  (json_int_t)grant_nusd),
				err) < 0
		       ? -1
		       : start_loop(run, task, true, err);
}

/* The limits may have changed while nobody was there. */
static int regrant(struct batch_run *run, size_t task, struct error *err)
{
	const struct batch_task *at = &run->state.tasks[task];
	int64_t grant_nusd = batch_schedule_regrant(&run->state, task);

	return grant_nusd == at->grant_nusd
		       ? 0
		       : batch_run_append(run, BATCH_EVENT_granted,
					  json_pack("{s:s, s:I}", "task", at->id, "grant_nusd",
						    (json_int_t)grant_nusd),
					  err);
}

int batch_begin_take_over(struct batch_run *run, struct error *err)
{
	for (size_t i = 0; i < run->state.count; i++)
		if (run->state.tasks[i].step == BATCH_STEP_running && regrant(run, i, err) < 0)
			return -1;
	for (size_t i = 0; i < run->state.count; i++) {
		const struct batch_task *task = &run->state.tasks[i];
		struct error ignored;

		if (task->step == BATCH_STEP_held)
			batch_watch_add(&run->watch, i, task->loop, &ignored);
		if (task->step == BATCH_STEP_running && start_loop(run, i, false, err) < 0)
			return -1;
	}
	return 0;
}
