/* Looking after the loops of a batch: see batch_tend.h. */
#include "batch/batch_tend.h"

#include "batch/batch_begin.h"
#include "batch/batch_conflict.h"
#include "batch/batch_race.h"
#include "batch/batch_reason.h"
#include "batch/batch_schedule.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

enum {
	LOOK_MS = 2000,  /* between looks at every running loop: killed processes tell nothing */
	CONTINUE_MAX = 5 /* times that a loop is continued after its processes were killed */
};

#define NO_MONEY "the limit of cost is reached (to go on: ringfence work --resume --max-cost USD)"

/* A merge that may still be completed without an agent. */
static bool is_deciding(const struct batch_task *task, const struct client_loop *loop)
{
	return task->step == BATCH_STEP_running && task->merged && loop->state.iteration == 0 &&
	       loop->state.step != LOOP_STEP_paused && loop->state.step != LOOP_STEP_waiting;
}

static int note_held(struct batch_run *run, size_t task, const char *reason, struct error *err)
{
	return run->state.tasks[task].step == BATCH_STEP_held
		       ? 0
		       : batch_run_append_task(run, BATCH_EVENT_held, task, reason, err);
}

static int note_waiting(struct batch_run *run, size_t task, const struct client_loop *loop,
			struct error *err)
{
	AUTO_FREE char *reason = batch_reason_of_pause(loop);

	return note_held(run, task, reason, err);
}

/* Has a loop reached a limit of cost that was low only because that of the batch is near? With more
 * money it can go on. */
static bool needs_money(const struct batch_task *task, const struct client_loop *loop)
{
	return strcmp(client_status(loop), "limit") == 0 && batch_schedule_is_cut(task) &&
	       loop->state.spent_nusd >= task->grant_nusd;
}

static int note_ended(struct batch_run *run, size_t task, const struct client_loop *loop,
		      struct error *err)
{
	AUTO_FREE char *reason = batch_reason_of_end(loop);
	json_t *data = json_pack("{s:s, s:s, s:o, s:I, s:i}", "task", run->state.tasks[task].id,
				 "status", client_status(loop), "reason", client_text(reason),
				 "spent_nusd", (json_int_t)loop->state.spent_nusd, "iterations",
				 (int)loop->state.iteration);
	bool broken = loop->state.fence_failed;

	if (batch_run_append(run, BATCH_EVENT_ended, data, err) < 0)
		return -1;
	batch_watch_drop(&run->watch, task);
	batch_watch_read(&run->watch, true); /* other candidates may have lost now */
	run->deciding[task] = false;
	/* No other loop would do better. */
	return broken && run->state.wish == BATCH_WISH_NONE
		       ? batch_run_append(run, BATCH_EVENT_asked,
					  json_pack("{s:s, s:s}", "wish", "pause", "why",
						    "the fence failed"),
					  err)
		       : 0;
}

/* Continues a loop whose processes were killed; one that is killed again and again is held. */
static int revive(struct batch_run *run, size_t task, struct error *err)
{
	struct batch_watch_loop *at = &run->watch.loops[task];
	struct error why;

	if (at->continued++ < CONTINUE_MAX &&
	    batch_loop_start(&run->state, &run->place, task, false, &why) == 0) {
		at->changed = true;
		return 0;
	}
	if (at->continued > CONTINUE_MAX)
		error_set(&why, "its processes were killed %d times", CONTINUE_MAX);
	return batch_run_append_task(run, BATCH_EVENT_held, task, why.text, err);
}

/* Passes a request to pause or abort on. A candidate that has lost is aborted. */
static void pass_on(struct batch_run *run, size_t task, struct client_loop *loop)
{
	struct batch_watch_loop *at = &run->watch.loops[task];
	bool abort = batch_race_is_unwanted(&run->state, task);
	struct error err;

	if ((run->state.wish == BATCH_WISH_NONE && !abort) || at->asked)
		return;
	/* If that fails, the next look tries again. */
	at->asked = client_ask(loop, abort ? CONTROL_REQUEST_abort : CONTROL_REQUEST_pause, false,
			       &err) == 0;
	at->changed = at->asked;
	if (!at->asked)
		fprintf(stderr, "%s\n", err.text);
}

/* Names the conflicts that a loop began with, once. */
static int note_conflicts(struct batch_run *run, size_t task, const struct client_loop *loop,
			  struct error *err)
{
	const struct batch_task *at = &run->state.tasks[task];
	json_t *conflicts = at->merged && !at->conflicts
				    ? batch_conflict_list(&run->state, run->home, task, loop)
				    : NULL;

	return conflicts ? batch_run_append(run, BATCH_EVENT_conflicted,
					    json_pack("{s:s, s:o}", "task", at->id, "conflicts",
						      conflicts),
					    err)
			 : 0;
}

static int look_at(struct batch_run *run, size_t task, struct client_loop *loop, struct error *err)
{
	enum batch_step step = run->state.tasks[task].step;
	enum loop_step there = loop->state.step;

	run->deciding[task] = is_deciding(&run->state.tasks[task], loop);
	if (loop->damaged)
		return note_held(run, task, loop->trouble, err);
	if (note_conflicts(run, task, loop, err) < 0)
		return -1;
	if (there == LOOP_STEP_finished)
		return !batch_race_is_unwanted(&run->state, task) &&
				       needs_money(&run->state.tasks[task], loop)
			       ? note_held(run, task, NO_MONEY, err)
			       : note_ended(run, task, loop, err);
	if (batch_race_is_unwanted(&run->state, task) || there != LOOP_STEP_paused)
		pass_on(run, task, loop);
	if (there == LOOP_STEP_paused)
		return note_waiting(run, task, loop, err);
	if (step == BATCH_STEP_held && loop->alive)
		return batch_run_append_task(run, BATCH_EVENT_unheld, task, NULL, err);
	return loop->alive || step == BATCH_STEP_held ? 0 : revive(run, task, err);
}

static bool has_loop(const struct batch_task *task)
{
	return task->step == BATCH_STEP_running || task->step == BATCH_STEP_held;
}

/* Ends a task whose loop cannot be read, or never started: there is nothing to abort. */
static int drop_lost(struct batch_run *run, size_t task, struct error *err)
{
	const struct client_loop *loop = &run->watch.loops[task].loop;
	bool by_you = run->state.wish == BATCH_WISH_ABORT;

	if (!batch_race_is_unwanted(&run->state, task) || (loop->id && !loop->damaged))
		return 0;
	return batch_run_append(run, BATCH_EVENT_ended,
				json_pack("{s:s, s:s, s:s, s:I}", "task", run->state.tasks[task].id,
					  "status", "aborted", "reason",
					  by_you ? "by you" : "another candidate has won",
					  "spent_nusd", (json_int_t)loop->state.spent_nusd),
				err);
}

int batch_tend_look(struct batch_run *run, struct error *err)
{
	int64_t now_ms = wait_set_steady_ms();
	bool all = now_ms - run->looked_ms >= LOOK_MS;

	run->looked_ms = all ? now_ms : run->looked_ms;
	batch_watch_read(&run->watch, all);
	for (size_t i = 0; i < run->state.count; i++) {
		struct client_loop *loop = has_loop(&run->state.tasks[i])
						   ? batch_watch_changed(&run->watch, i)
						   : NULL;

		if ((loop && look_at(run, i, loop, err) < 0) ||
		    (has_loop(&run->state.tasks[i]) &&
		     (batch_begin_unhold(run, i, err) < 0 || drop_lost(run, i, err) < 0)))
			return -1;
	}
	return 0;
}

void batch_tend_ask_again(struct batch_run *run)
{
	for (size_t i = 0; i < run->watch.count; i++)
		run->watch.loops[i].asked = false;
	batch_watch_read(&run->watch, true);
}

/* ---- waiting ---- */

/* Loops are looked at only while one runs: a batch that waits for a person uses no CPU time. */
static int64_t look_due_ms(void *context)
{
	const struct batch_run *run = context;

	for (size_t i = 0; i < run->state.count; i++)
		if (run->state.tasks[i].step == BATCH_STEP_running)
			return run->looked_ms + LOOK_MS;
	return INT64_MAX;
}

/* They are read by batch_tend_look(), before the next decision. */
static void serve_loops(void *context, bool readable)
{
	(void)context;
	(void)readable;
}

void batch_tend_watch(struct batch_run *run)
{
	wait_set_add(&run->waits, &(struct wait_set_watch){ .at = &run->watch.inotify,
							    .due_ms = look_due_ms,
							    .serve = serve_loops,
							    .context = run });
}
