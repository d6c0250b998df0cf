/* The overview: see web_overview.h. */
#include "serve/answer/web_overview.h"

#include "util/clock.h"
#include "view/view_json.h"
#include "view/view_overview.h"

enum { MOST_UNREAD = 500 }; /* loops that no index knows are read later */

json_t *web_overview_row(const struct view_row *row)
{
	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:I, s:I, s:I, s:b, s:I, s:I, "
		"s:b, s:o, s:o}",
		"id", row->id, "kind", row->batch ? "batch" : "loop", "name",
		view_json_text(row->name), "project", view_json_text(row->project), "batch",
		view_json_text(row->of), "title", view_json_text(row->title), "status",
		view_json_text(row->status), "iteration", (int)row->iteration, "iterations",
		(int)row->iterations, "cost_nusd", (json_int_t)row->cost_nusd, "max_cost_nusd",
		(json_int_t)row->most_nusd, "estimated_nusd", (json_int_t)row->estimated_nusd,
		"ticks", row->ticks, "created_ms", (json_int_t)row->created_ms, "changed_ms",
		(json_int_t)row->changed_ms, "ended", row->ended, "now", view_json_text(row->now),
		"needs", view_json_text(row->needs));
}

void web_overview_clock(json_t *object, const struct view_row *row, int64_t now_ms)
{
	json_object_set_new(object, "elapsed_ms",
			    json_integer((json_int_t)view_row_elapsed_ms(row, now_ms)));
	json_object_set_new(object, "at_ms", json_integer((json_int_t)now_ms));
}

int web_overview_answer(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct view_overview overview;
	int64_t now_ms = clock_wall_ms();
	json_t *rows = json_array();

	view_overview_open(&overview, ask->state);
	if (view_overview_refresh(&overview, MOST_UNREAD, err) < 0) {
		view_overview_close(&overview);
		json_decref(rows);
		return -1;
	}
	for (size_t i = 0; i < overview.count; i++) {
		json_t *row = web_overview_row(overview.rows[i]);

		web_overview_clock(row, overview.rows[i], now_ms);
		json_array_append_new(rows, row);
	}
	answer->json = json_pack("{s:I, s:I, s:o}", "time_ms", (json_int_t)now_ms, "unread",
				 (json_int_t)overview.unread, "rows", rows);
	view_overview_close(&overview);
	return 0;
}
