/* Files of a loop: see report.h. */
#include "loop/report.h"

#include "loop/place.h"
#include "util/mem.h"
#include "util/path.h"

#include <stdlib.h>
#include <string.h>

static json_t *limits_json(const struct loop_options *options)
{
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I}", "iterations",
			 (int)options->limits.iterations, "time_s",
			 (json_int_t)options->limits.total_s, "cost_nusd",
			 (json_int_t)options->limits.cost_nusd, "warn_cost_nusd",
			 (json_int_t)options->limits.cost_warning_nusd, "timeout_ms",
			 (json_int_t)options->timeout_ms, "idle_ms", (json_int_t)options->idle_ms);
}

json_t *report_loop(const char *id, const struct loop_state *state, bool alive, int64_t now_ms)
{
	return json_pack("{s:s, s:s?, s:s, s:s, s:i, s:i, s:I, s:o, s:i, s:i, s:I, s:s?}", "id", id,
			 "project", state->options.project, "status", loop_status(state, alive),
			 "phase", loop_phase_name(state->phase), "iteration", (int)state->iteration,
			 "used", (int)state->used, "spent_nusd", (json_int_t)state->spent_nusd,
			 "limits", limits_json(&state->options), "completion",
			 (int)state->completion, "confidence", (int)state->confidence,
			 "last_heartbeat", (json_int_t)now_ms / 1000, "reason", state->reason);
}

int report_json(const char *folder, const char *name, json_t *value, struct error *err)
{
	AUTO_FREE char *text = json_dumps(value, JSON_INDENT(2));

	if (!text)
		return error_set(err, "'%s' could not be written as JSON", name);
	return place_write(folder, name, text, strlen(text), err);
}

int report_state(const char *folder, const struct loop_state *state, int64_t now_ms, pid_t pid,
		 struct error *err)
{
	json_t *value = report_loop(path_name(folder), state, true, now_ms);
	int result;

	json_object_set_new(value, "supervisor_pid", json_integer(pid));
	result = report_json(folder, "state.json", value, err);
	json_decref(value);
	return result;
}

int report_survey(const char *folder, const char *name, const struct survey *survey,
		  struct error *err)
{
	json_t *value = json_pack("{s:I, s:I, s:I, s:s, s:s}", "files", (json_int_t)survey->files,
				  "bytes", (json_int_t)survey->bytes, "changed",
				  (json_int_t)survey->changed, "tree", survey->tree, "head",
				  survey->head);
	int result = report_json(folder, name, value, err);

	json_decref(value);
	return result;
}

void report_trouble(const char *folder, const char *why)
{
	struct error ignored;

	place_write(folder, "trouble.txt", why, strlen(why), &ignored);
}
