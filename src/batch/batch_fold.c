/* Events added to the state of a batch: see batch_fold.h. */
#include "batch/batch_fold.h"

#include "batch/batch_race.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static void replace(char **text, const char *with)
{
	char *copy = with ? mem_dup(with) : NULL;

	free(*text);
	*text = copy;
}

/* Finds a task by its id, which may be that of all its candidates. */
static long find_task(const struct batch_state *state, const char *id)
{
	for (size_t i = 0; id && i < state->count; i++)
		if (strcmp(state->tasks[i].id, id) == 0 ||
		    strcmp(jsonget_text(state->tasks[i].item, "race"), id) == 0)
			return (long)state->tasks[i].first;
	return -1;
}

/* ---- the configuration ---- */

/* Candidates of a task follow each other. */
static size_t first_of(const struct batch_state *state, const json_t *item, size_t index)
{
	const char *race = jsonget_string(item, "race");
	const char *before = index ? jsonget_string(state->tasks[index - 1].item, "race") : NULL;

	return race && before && strcmp(race, before) == 0 ? state->tasks[index - 1].first : index;
}

static int read_task(struct batch_state *state, const json_t *item, struct batch_task *ret_task,
		     struct error *err)
{
	*ret_task = (struct batch_task){
		.item = item,
		.id = jsonget_string(item, "id"),
		.priority = jsonget_number(item, "priority"),
		.most_nusd = jsonget_number(item, "limit_nusd"),
		.done_before = jsonget_flag(item, "done"),
		.step = jsonget_flag(item, "done") ? BATCH_STEP_landed : BATCH_STEP_waiting,
	};
	if (!ret_task->id || !jsonget_string(item, "prompt") ||
	    jsonget_number(item, "template") < 0 ||
	    (size_t)jsonget_number(item, "template") >= json_array_size(state->templates))
		return error_with(err, ERROR_INVALID, "a task of the batch is malformed");
	return 0;
}

static int read_dependencies(struct batch_state *state, struct batch_task *task, struct error *err)
{
	const json_t *ids = json_object_get(task->item, "depends");
	size_t index;
	const json_t *id;

	task->depends = mem_zero((json_array_size(ids) + 1) * sizeof *task->depends);
	json_array_foreach(ids, index, id)
	{
		long found = find_task(state, json_string_value(id));

		if (found < 0)
			return error_with(err, ERROR_INVALID, "a task depends on an unknown one");
		task->depends[task->depend_count++] = (size_t)found;
	}
	return 0;
}

/* Orders the tasks so that each comes after those that it depends on. The list has no circles
 * (worklist_finish()); a journal that has one is malformed. */
static int set_order(struct batch_state *state, struct error *err)
{
	bool *placed = mem_zero(state->count + 1);
	size_t used = 0;
	size_t before;

	state->order = mem_zero((state->count + 1) * sizeof *state->order);
	do {
		before = used;
		for (size_t i = 0; i < state->count; i++) {
			const struct batch_task *task = &state->tasks[i];
			bool ready = !placed[i];

			for (size_t k = 0; ready && k < task->depend_count; k++)
				ready = placed[task->depends[k]];
			if (ready) {
				placed[i] = true;
				state->order[used++] = i;
			}
		}
	} while (used > before);
	free(placed);
	return used == state->count ? 0
				    : error_with(err, ERROR_INVALID,
						 "the tasks depend on each other in a circle");
}

static uint32_t clamp(json_int_t value, uint32_t most)
{
	return value < 1 ? 1 : value > most ? most : (uint32_t)value;
}

/* Changes the limit of each task that has none of its own. */
static void set_task_limit(struct batch_state *state, int64_t nusd)
{
	for (size_t i = 0; i < state->count; i++)
		if (!json_object_get(state->tasks[i].item, "limit_nusd"))
			state->tasks[i].most_nusd = nusd;
	state->task_nusd = nusd;
}

static void read_limits(struct batch_state *state, const json_t *from)
{
	if (json_object_get(from, "task_cost_nusd"))
		set_task_limit(state, jsonget_number(from, "task_cost_nusd"));
	if (json_object_get(from, "jobs"))
		state->jobs = clamp(jsonget_number(from, "jobs"), BATCH_JOBS_MAX);
	if (json_object_get(from, "rounds"))
		state->rounds = clamp(jsonget_number(from, "rounds"), BATCH_ROUNDS_MAX);
	if (json_object_get(from, "max_cost_nusd"))
		state->most_nusd = jsonget_number(from, "max_cost_nusd");
}

static int fold_created(struct batch_state *state, const json_t *data, struct error *err)
{
	const json_t *tasks;
	size_t index;
	const json_t *item;

	if (state->config)
		return error_with(err, ERROR_INVALID, "a batch is created only once");
	state->config = json_incref(json_object_get(data, "config"));
	state->project = jsonget_string(state->config, "project");
	state->templates = json_object_get(state->config, "templates");
	tasks = json_object_get(state->config, "tasks");
	if (!state->project || !json_array_size(tasks))
		return error_with(err, ERROR_INVALID, "the batch has no project or no tasks");
	state->jobs = state->rounds = 1;
	state->compare = jsonget_flag(state->config, "compare");
	state->tasks = mem_zero(json_array_size(tasks) * sizeof *state->tasks);
	json_array_foreach(tasks, index, item)
	{
		if (read_task(state, item, &state->tasks[state->count++], err) < 0)
			return -1;
		state->tasks[index].first = first_of(state, item, index);
	}
	read_limits(state, state->config);
	for (size_t i = 0; i < state->count; i++)
		if (read_dependencies(state, &state->tasks[i], err) < 0)
			return -1;
	return set_order(state, err);
}

/* ---- events about a task ---- */

static void spend(struct batch_state *state, const char *loop)
{
	if (loop && !list_has(&state->spent, loop))
		list_add(&state->spent, loop);
}

static void set_conflicts(struct batch_task *task, json_t *conflicts)
{
	json_decref(task->conflicts);
	task->conflicts = json_incref(conflicts);
}

static void fold_begun(struct batch_state *state, struct batch_task *task, const json_t *data,
		       int64_t seq, int64_t at_ms)
{
	const char *merges = jsonget_string(data, "merges");

	/* A start that was interrupted is repeated, and merges the same result. */
	if (merges && (!task->merged || strcmp(task->merged, merges) != 0)) {
		task->since_seq = task->loop_seq;
		spend(state, task->merged); /* it is in the result that is merged now */
	}
	task->rounds++;
	replace(&task->loop, jsonget_text(data, "loop"));
	replace(&task->base, jsonget_string(data, "base"));
	replace(&task->reason, NULL);
	replace(&task->merged, jsonget_string(data, "merges"));
	task->grant_nusd = jsonget_number(data, "grant_nusd");
	task->ended_ms = 0;
	task->loop_seq = seq;
	set_conflicts(task, NULL);
	if (!task->begun_ms)
		task->begun_ms = at_ms;
}

static void fold_ended(struct batch_task *task, const json_t *data, bool lost, int64_t at_ms)
{
	bool completed = strcmp(jsonget_text(data, "status"), "completed") == 0;

	task->spent_nusd += jsonget_number(data, "spent_nusd");
	task->grant_nusd = 0;
	task->ended_ms = at_ms;
	replace(&task->reason, jsonget_string(data, "reason"));
	if (lost)
		task->step = BATCH_STEP_lost;
	else if (!completed)
		task->step = BATCH_STEP_failed;
}

static void fold_landed(struct batch_state *state, struct batch_task *task, int64_t seq)
{
	task->landed_seq = seq;
	spend(state, task->merged);
	spend(state, state->tip);
	set_conflicts(task, NULL);
	replace(&state->tip, task->loop);
}

static void fold_retried(struct batch_task *task)
{
	task->rounds = 0;
	task->retried_nusd = task->spent_nusd;
	task->begun_ms = task->ended_ms = 0;
	task->picked = false;
	replace(&task->merged, NULL);
	replace(&task->loop, NULL);
	replace(&task->base, NULL);
	replace(&task->reason, NULL);
	set_conflicts(task, NULL);
}

static int fold_task(struct batch_state *state, enum batch_event kind, const json_t *data,
		     const struct journal_event *event, struct error *err)
{
	long index = batch_state_find(state, jsonget_string(data, "task"));
	struct batch_task *task = index < 0 ? NULL : &state->tasks[index];
	int next = task ? batch_event_next(task->step, kind) : -1;
	bool lost = task && batch_race_is_lost(state, (size_t)index);

	if (next < 0)
		return error_with(err, ERROR_INVALID, "the event '%s' is illegal for this task",
				  batch_event_name(kind));
	task->step = (enum batch_step)next;
	task->wanted = false;
	if (kind == BATCH_EVENT_begun)
		fold_begun(state, task, data, event->seq, event->at_ms);
	else if (kind == BATCH_EVENT_ended)
		fold_ended(task, data, lost, event->at_ms);
	else if (kind == BATCH_EVENT_retried)
		fold_retried(task);
	else if (kind == BATCH_EVENT_landed)
		fold_landed(state, task, event->seq);
	else if (kind == BATCH_EVENT_granted)
		task->grant_nusd = jsonget_number(data, "grant_nusd");
	else if (kind == BATCH_EVENT_conflicted)
		set_conflicts(task, json_object_get(data, "conflicts"));
	else if (kind != BATCH_EVENT_picked)
		replace(&task->reason, jsonget_string(data, "reason"));
	if (task->step == BATCH_STEP_lost)
		spend(state, task->loop);
	task->picked = task->picked || kind == BATCH_EVENT_picked;
	if (kind == BATCH_EVENT_unheld && json_object_get(data, "grant_nusd"))
		task->grant_nusd = jsonget_number(data, "grant_nusd");
	return 0;
}

/* ---- events about the batch ---- */

static void fold_asked(struct batch_state *state, const json_t *data)
{
	state->wish = strcmp(jsonget_text(data, "wish"), "abort") == 0 ? BATCH_WISH_ABORT
								       : BATCH_WISH_PAUSE;
	replace(&state->reason, jsonget_string(data, "why"));
}

static void fold_batch(struct batch_state *state, enum batch_event kind, const json_t *data)
{
	if (kind == BATCH_EVENT_started)
		state->supervisor = (int)jsonget_number(data, "pid");
	else if (kind == BATCH_EVENT_asked)
		fold_asked(state, data);
	else if (kind == BATCH_EVENT_changed)
		read_limits(state, data);
	if (kind != BATCH_EVENT_paused && kind != BATCH_EVENT_resumed &&
	    kind != BATCH_EVENT_finished)
		return;
	state->paused = kind == BATCH_EVENT_paused;
	state->finished = kind == BATCH_EVENT_finished;
	state->wish = BATCH_WISH_NONE;
	for (size_t i = 0; i < state->count; i++)
		state->tasks[i].wanted = kind == BATCH_EVENT_resumed &&
					 state->tasks[i].step == BATCH_STEP_held;
	replace(&state->status, jsonget_string(data, "status"));
	replace(&state->reason, jsonget_string(data, "reason"));
}

int batch_fold(struct batch_state *state, const struct journal_event *event, struct error *err)
{
	int kind = batch_event_find(event->kind);
	json_t *data = json_loads(event->data, 0, NULL);
	int result = 0;

	if (kind < 0 || !data || (kind == BATCH_EVENT_created) != (state->last_seq == 0))
		result = error_with(err, ERROR_INVALID, "event %lld of the batch is malformed",
				    (long long)event->seq);
	else if (kind == BATCH_EVENT_created)
		result = fold_created(state, data, err);
	else if (batch_event_has_task((enum batch_event)kind))
		result = fold_task(state, (enum batch_event)kind, data, event, err);
	else
		fold_batch(state, (enum batch_event)kind, data);
	if (kind == BATCH_EVENT_created)
		state->created_ms = event->at_ms;
	state->last_seq = event->seq;
	json_decref(data);
	return result;
}

static int take(void *context, const struct journal_event *event, struct error *err)
{
	return batch_fold(context, event, err);
}

int batch_fold_follow(struct journal *store, struct journal_mark *mark, struct batch_state *state,
		      struct error *err)
{
	return journal_follow(store, mark, take, state, err);
}
