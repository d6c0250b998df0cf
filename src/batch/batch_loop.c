/* The loops of a batch's tasks: see batch_loop.h. */
#include "batch/batch_loop.h"

#include "fence/fence_place.h"
#include "fence/fence_spec.h"
#include "loop/client.h"
#include "ops/op_resume.h"
#include "ops/op_start.h"
#include "util/text/jsonget.h"

#include <string.h>

enum { GONE_MS = 10000 };

/* ---- the configuration ---- */

static bool has(const json_t *list, const json_t *text)
{
	size_t index;
	const json_t *value;

	json_array_foreach(list, index, value)
	{
		if (json_equal(value, text))
			return true;
	}
	return false;
}

/* Adds the texts that the list does not have. */
static void add_all(json_t *list, const json_t *texts)
{
	size_t index;
	json_t *text;

	json_array_foreach(texts, index, text)
	{
		if (!has(list, text))
			json_array_append(list, text);
	}
}

/* A check that was only found in the project gives way to those that the task names. */
static json_t *checks_of(const struct batch_state *state, const struct batch_task *task,
			 json_t *config)
{
	const json_t *own = json_object_get(task->item, "checks");
	json_t *checks = json_array();

	if (!json_array_size(own) || !jsonget_flag(config, "check_found"))
		add_all(checks, json_object_get(config, "checks"));
	else
		json_object_del(config, "check_found");
	add_all(checks, own);
	for (size_t i = 0; i < state->count; i++)
		if (state->tasks[i].step == BATCH_STEP_landed && !state->tasks[i].done_before)
			add_all(checks, json_object_get(state->tasks[i].item, "checks"));
	return checks;
}

/* Returns the configuration of a task's next loop: its template, with what the task says, and with
 * the checks of all tasks that have landed, so that no task breaks what is done. */
static json_t *make_config(const struct batch_state *state, const char *batch, size_t index)
{
	const struct batch_task *task = &state->tasks[index];
	size_t template = (size_t)jsonget_number(task->item, "template");
	json_t *config = json_deep_copy(json_array_get(state->templates, template));
	json_t *pins = json_array();

	add_all(pins, json_object_get(config, "pin"));
	add_all(pins, json_object_get(task->item, "pins"));
	json_object_set_new(config, "pin", pins);
	json_object_set(config, "objective", json_object_get(task->item, "prompt"));
	json_object_set_new(config, "checks", checks_of(state, task, config));
	json_object_set_new(config, "max_cost_nusd", json_integer((json_int_t)task->grant_nusd));
	json_object_set_new(config, "batch", json_string(batch));
	json_object_set_new(config, "task", json_string(task->id));
	return config;
}

/* ---- starting ---- */

static int start_new(const struct batch_state *state, const struct batch_task *task, json_t *config,
		     struct error *err)
{
	const json_t *draft = json_object_get(state->config, "draft");
	struct fence_place place = { 0 };
	struct fence_spec spec = { 0 };
	struct op_start_result result = OP_START_INIT;
	struct op_start_request request = {
		.place = &place,
		.spec = &spec,
		.here = "/",
		.workspace = OP_START_DRAFT,
		.min_free_bytes = jsonget_number(config, "min_free_bytes"),
		.draft = { .kind = jsonget_string(draft, "kind"),
			   .most_bytes = (uint64_t)jsonget_number(draft, "most_bytes") },
		.loop_id = task->loop,
		.from = task->base,
		.with = task->merged,
	};
	int done = fence_place_find(state->project, &place, err);

	if (done == 0) {
		done = spec_json_read(json_object_get(config, "fence"), &spec, err);
		spec.project = place.project;
		spec.place = &place;
	}
	if (done == 0 && (op_failed(op_start_prepare(&request, &result, err)) ||
			  op_failed(op_start_plan_stored(&request, config, &result, err)) ||
			  op_failed(op_start(&request, &result, err))))
		done = -1;
	op_start_release(&request, &result);
	fence_spec_release(&spec);
	fence_place_release(&place);
	return done;
}

/* Waits until the supervisor of a loop that has ended is gone. */
static int await_end(const char *folder, const char *id, struct error *err)
{
	struct client_loop loop = { 0 };
	int result = 0;

	if (id && client_find(folder, id, NULL, &loop, err) < 0)
		return -1;
	if (id && !client_wait_gone(&loop, GONE_MS))
		result = error_with(err, ERROR_BUSY, "loop %s is still running", id);
	client_loop_release(&loop);
	return result;
}

/* Should this loop be continued: its processes were killed, or, if `resume`, it is paused or has
 * reached a limit? */
static bool can_continue(const struct client_loop *loop, bool resume)
{
	enum loop_step step = loop->state.step;

	if (step == LOOP_STEP_finished)
		return resume && strcmp(client_status(loop), "limit") == 0;
	return step == LOOP_STEP_paused ? resume : !loop->alive;
}

static int continue_loop(const char *folder, struct client_loop *loop, int64_t grant_nusd,
			 bool resume, struct error *err)
{
	json_t *changes = json_pack("{s:I}", "max_cost_nusd", (json_int_t)grant_nusd);
	const struct op_resume_request request = { .target = { .state = folder, .loop = loop->id },
						   .changes = changes };
	struct op_resume_result resumed;
	enum op_status status = op_resume(&request, &resumed, err);

	op_resume_release(&resumed);
	json_decref(changes);
	if (!op_failed(status))
		return 0;
	/* It may have gone on or ended by itself meanwhile. */
	client_refresh(loop);
	return can_continue(loop, resume) ? -1 : 0;
}

/* Can a loop that runs still spend money? */
static bool can_spend(const struct client_loop *loop)
{
	enum loop_step step = loop->state.step;

	return loop->alive && step != LOOP_STEP_paused && step != LOOP_STEP_closing &&
	       step != LOOP_STEP_finished;
}

/* Tells a loop that goes on by itself that it may cost less than it knows. */
static int limit_loop(struct client_loop *loop, int64_t grant_nusd, struct error *err)
{
	int64_t most_nusd = loop->state.options.limits.cost_nusd;

	if (!grant_nusd || (most_nusd && most_nusd <= grant_nusd) || !can_spend(loop) ||
	    client_limit(loop, grant_nusd, err) == 0)
		return 0;
	/* It may have ended meanwhile. */
	client_refresh(loop);
	return can_spend(loop) ? -1 : 0;
}

static int find_and_continue(const char *folder, struct client_loop *loop, int64_t grant_nusd,
			     bool resume, struct error *err)
{
	if (loop->damaged)
		return error_with(err, ERROR_IO, "loop %s: %.1500s", loop->id, loop->trouble);
	if (!loop->state.last_seq)
		return error_with(err, ERROR_EXISTS, "the start of loop %s was interrupted",
				  loop->id);
	return can_continue(loop, resume) ? continue_loop(folder, loop, grant_nusd, resume, err)
					  : limit_loop(loop, grant_nusd, err);
}

int batch_loop_start(const struct batch_state *state, const struct batch_loop_place *place,
		     size_t index, bool resume, struct error *err)
{
	const char *folder = place->state;
	const struct batch_task *task = &state->tasks[index];
	struct client_loop loop = { 0 };
	json_t *config;
	int result;

	if (client_find(folder, task->loop, NULL, &loop, err) == 0) {
		result = find_and_continue(folder, &loop, task->grant_nusd, resume, err);
		client_loop_release(&loop);
		return result;
	}
	if (await_end(folder, task->base, err) < 0 || await_end(folder, task->merged, err) < 0)
		return -1;
	config = make_config(state, place->batch, index);
	result = start_new(state, task, config, err);
	json_decref(config);
	return result;
}
