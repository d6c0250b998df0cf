/* A batch as JSON: see batch_report.h. */
#include "batch/batch_report.h"

#include "batch/batch_sums.h"
#include "loop/state/loop_folder.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static json_t *task_json(const struct batch_task *task, bool cut_off)
{
	json_t *depends = json_object_get(task->item, "depends");

	return json_pack(
		"{s:s, s:s?, s:s, s:s, s:b, s:s?, s:s?, s:i, s:I, s:I, s:I, s:I, s:O?, s:s, s:I, "
		"s:O?}",
		"id", task->id, "race", jsonget_string(task->item, "race"), "title",
		jsonget_text(task->item, "title"), "step", batch_event_step_name(task->step),
		"cut_off", cut_off, "loop", task->loop, "reason", task->reason, "rounds",
		(int)task->rounds, "spent_nusd", (json_int_t)task->spent_nusd, "grant_nusd",
		(json_int_t)task->grant_nusd, "begun_ms", (json_int_t)task->begun_ms, "ended_ms",
		(json_int_t)task->ended_ms, "depends", depends, "list",
		jsonget_text(task->item, "list"), "line",
		(json_int_t)jsonget_number(task->item, "line"), "conflicts", task->conflicts);
}

/* The names of its lists, as the user gave them. */
static json_t *lists_json(const struct batch_state *state)
{
	json_t *names = json_array();
	size_t index;
	const json_t *list;

	json_array_foreach(json_object_get(state->config, "lists"), index, list)
	{
		json_array_append(names, json_object_get(list, "name"));
	}
	return names;
}

json_t *batch_report_summary(const char *id, const char *status, const struct batch_state *state)
{
	struct batch_sums sums;

	batch_sums_count(state, &sums);
	return json_pack("{s:s, s:s?, s:s, s:s?, s:s?, s:I, s:i, s:I, s:I, s:i, s:i, s:i, s:o}",
			 "id", id, "project", state->project, "status", status, "reason",
			 state->reason, "tip", state->tip, "created_at",
			 (json_int_t)(state->created_ms / 1000), "jobs", (int)state->jobs,
			 "spent_nusd", (json_int_t)sums.spent_nusd, "max_cost_nusd",
			 (json_int_t)state->most_nusd, "landed", (int)sums.landed, "failed",
			 (int)sums.failed, "open", (int)(sums.tasks - sums.landed - sums.failed),
			 "lists", lists_json(state));
}

json_t *batch_report_json(const char *id, const char *status, const struct batch_state *state)
{
	AUTO_FREE bool *cut_off = batch_sums_cut_off(state);
	json_t *json = batch_report_summary(id, status, state);
	json_t *tasks = json_array();

	for (size_t i = 0; i < state->count; i++)
		json_array_append_new(tasks, task_json(&state->tasks[i], cut_off[i]));
	json_object_set_new(json, "tasks", tasks);
	return json;
}

int batch_report_write(const char *folder, const struct batch_state *state, struct error *err)
{
	const char *status = state->finished ? state->status : state->paused ? "paused" : "running";
	json_t *json = batch_report_json(path_name(folder), status, state);
	AUTO_FREE char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
	int result = text ? loop_folder_write(folder, "state.json", text, strlen(text), err)
			  : error_set(err, "the state of the batch cannot be written as JSON");

	json_decref(json);
	return result;
}
