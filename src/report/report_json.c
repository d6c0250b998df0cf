/* The report of a loop as JSON: see report.h. */
#include "report/report.h"

#include "view/view_json.h"

static void set(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, view_json_number(value));
}

/* Returns the same object, or an empty list. */
static json_t *list_of(json_t *list)
{
	return list ? json_incref(list) : json_array();
}

json_t *report_json(const struct report *report)
{
	const struct loop_state *state = &report->loop->state;
	json_t *object = client_json(report->loop);
	json_t *items = json_array();

	for (size_t i = 0; i < report->iterations.count; i++)
		json_array_append_new(items, view_json_iteration(report->loop, &report->iterations,
								 &report->iterations.items[i]));
	set(object, "elapsed_ms", report->limits.elapsed_ms);
	set(object, "cost_nusd", report->limits.cost_nusd);
	json_object_set_new(object, "replay", json_boolean(report->iterations.replay));
	json_object_set_new(object, "final", view_json_text(state->final));
	json_object_set_new(object, "objective", view_json_text(state->options.objective));
	json_object_set_new(object, "iterations", items);
	set(object, "iterations_dropped", (int64_t)report->iterations.dropped);
	json_object_set_new(object, "models",
			    view_json_uses(&report->iterations, report->iterations.totals,
					   report->iterations.models.count));
	json_object_set_new(object, "tools", view_json_tools(&report->tools));
	set(object, "transcripts_unread", (int64_t)report->tools.unread);
	json_object_set_new(object, "files", list_of(report->changes));
	json_object_set_new(object, "hosts", view_json_hosts(&report->tools));
	json_object_set_new(object, "denials", view_json_denials(&report->tools));
	json_object_set_new(object, "findings", list_of(state->findings));
	json_object_set_new(object, "review", list_of(state->review.findings));
	json_object_set_new(object, "untested", list_of(state->mutants.untested));
	return object;
}
