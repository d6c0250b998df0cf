/* Drawing a loop that is open: see watched.h. */
#include "screen/compact.h"
#include "screen/fleet.h"
#include "screen/panel.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *title;
	panel_fn *fill;
} tabs[WATCHED_TABS] = {
	[WATCHED_LOG] = { "Log", panel_log },
	[WATCHED_ITERATIONS] = { "Iterations", panel_iterations },
	[WATCHED_CHECKS] = { "Checks", panel_checks },
	[WATCHED_FINDINGS] = { "Findings", panel_findings },
	[WATCHED_CHANGES] = { "Changes", panel_changes },
	[WATCHED_DENIALS] = { "Denials", panel_denials },
	[WATCHED_COST] = { "Cost", panel_cost },
	[WATCHED_PROMPT] = { "Prompt", panel_prompt },
};

static void recall_cursor(struct watched *watched)
{
	struct watched_log *log = &watched->log;
	struct scroll *scroll = &watched->scrolls[WATCHED_LOG];
	size_t mark = view_transcript_find(&log->transcript, log->kept.offset, log->kept.ordinal);
	size_t at = sheet_find(&watched->sheet, mark);

	if (at == watched->sheet.count)
		return;
	scroll_to(scroll, at + log->kept_line);
	scroll->top = scroll->at > log->kept_row ? scroll->at - log->kept_row : 0;
	scroll_to(scroll, scroll->at);
}

/* Lines without a mark at the beginning are titles: the cursor begins below them. */
static void skip_titles(const struct sheet *sheet, struct scroll *scroll)
{
	size_t at = 0;

	while (at < sheet->count && sheet->items[at].mark == SHEET_NO_MARK)
		at++;
	if (scroll->at < at && at < sheet->count)
		scroll->at = at;
}

static void fill(struct watched *watched, int width, int rows)
{
	struct scroll *scroll = watched_scroll(watched);
	bool again = watched->stale || watched->width != width;

	if (again) {
		sheet_clear(&watched->sheet, width);
		if (watched->loop.damaged)
			sheet_block(&watched->sheet, SHEET_NO_MARK, CANVAS_bad, NULL, 1,
				    watched->loop.trouble ? watched->loop.trouble : "damaged");
		else
			tabs[watched->tab].fill(watched, &watched->sheet);
		watched->stale = false;
		watched->width = width;
	}
	scroll_fit(scroll, watched->sheet.count, rows);
	if (watched->tab != WATCHED_LOG)
		skip_titles(&watched->sheet, scroll);
	if (watched->tab != WATCHED_LOG || !again)
		return;
	if (watched->log.follow)
		scroll_to(scroll, SIZE_MAX);
	else
		recall_cursor(watched);
	watched_keep_cursor(watched);
}

static void draw_head(const struct watched *watched, struct canvas *canvas)
{
	const struct loop_options *options = &watched->loop.state.options;
	const struct view_limit *of = watched->limits.of;
	const char *status = watched->gone ? "removed" : client_status(&watched->loop);
	struct compact time = compact_time(watched->limits.elapsed_ms);
	struct compact most = compact_time(of[VIEW_LIMIT_time].total);
	struct compact cost = compact_usd(watched->limits.cost_nusd);
	char text[160];
	int used, end;

	used = snprintf(text, sizeof text, "iteration %u", watched->now.iteration);
	if (of[VIEW_LIMIT_iterations].total)
		used += snprintf(text + used, sizeof text - (size_t)used, "/%lld",
				 (long long)of[VIEW_LIMIT_iterations].total);
	used += snprintf(text + used, sizeof text - (size_t)used, "  %s", time.text);
	if (of[VIEW_LIMIT_time].total)
		used += snprintf(text + used, sizeof text - (size_t)used, "/%s", most.text);
	used += snprintf(text + used, sizeof text - (size_t)used, "  US$ %s", cost.text);
	if (of[VIEW_LIMIT_cost].total)
		snprintf(text + used, sizeof text - (size_t)used, "/%g",
			 (double)of[VIEW_LIMIT_cost].total / 1e9);
	end = canvas_put_right(canvas, 0, 20, canvas->cols - 1, CANVAS_plain, text);
	used = canvas_printf(canvas, 0, 1, end - 1, fleet_style(status), "%s ", fleet_sign(status));
	used = canvas_printf(canvas, 0, used, end - 13, CANVAS_title, "%s  ",
			     options->name ? options->name : watched->loop.id);
	canvas_put(canvas, 0, used, end - 1, fleet_style(status), status);
}

static void draw_now(const struct watched *watched, struct canvas *canvas, int row)
{
	const struct view_now *now = &watched->now;
	struct compact since = compact_time(watched->now_ms - now->since_ms);
	int end;

	if (watched->gone) {
		canvas_put(canvas, row, 1, canvas->cols, CANVAS_warning,
			   "! this loop was removed; what is below is what was read before");
		return;
	}
	if (watched->loop.damaged)
		return;
	end = canvas_put_right(canvas, row, 20, canvas->cols - 1, CANVAS_dim,
			       watched->loop.alive ? since.text : "");
	if (watched->needs)
		canvas_printf(canvas, row, 1, end - 1, CANVAS_urgent, "! %s", watched->needs);
	else
		canvas_put(canvas, row, 1, end - 1, CANVAS_plain,
			   watched->doing ? watched->doing : "");
}

/* Returns the first column of a tab's head. */
static int tab_col(int tab)
{
	int col = 1;

	for (int i = 0; i < tab; i++)
		col += 2 + (int)strlen(tabs[i].title) + 1;
	return col;
}

int watched_tab_at(int col)
{
	for (int tab = 0; tab < WATCHED_TABS; tab++)
		if (col >= tab_col(tab) && col < tab_col(tab) + 2 + (int)strlen(tabs[tab].title))
			return tab;
	return -1;
}

static void draw_tabs(const struct watched *watched, struct canvas *canvas, int row)
{
	for (int tab = 0; tab < WATCHED_TABS; tab++)
		canvas_printf(canvas, row, tab_col(tab), canvas->cols,
			      tab == (int)watched->tab ? CANVAS_chosen : CANVAS_dim, "%d %s",
			      tab + 1, tabs[tab].title);
}

/* The line below the tabs tells which iteration the log is of, and where it is. */
static void draw_rule(const struct watched *watched, struct canvas *canvas, int row)
{
	const struct watched_log *log = &watched->log;

	canvas_rule(canvas, row, 0, canvas->cols, CANVAS_dim, "\u2500");
	if (watched->tab == WATCHED_LOG)
		canvas_printf(canvas, row, 1, canvas->cols, CANVAS_dim, " iteration %u%s ",
			      log->iteration,
			      log->follow && watched->loop.alive ? ", following" : "");
}

void watched_draw(struct watched *watched, struct canvas *canvas)
{
	const struct loop_options *options = &watched->loop.state.options;
	int rows = canvas->rows - WATCHED_FIRST_ROW - 1;

	draw_head(watched, canvas);
	canvas_put(canvas, 1, 1, canvas->cols - 1, CANVAS_dim,
		   options->objective ? options->objective : "");
	draw_now(watched, canvas, 2);
	draw_tabs(watched, canvas, WATCHED_TABS_ROW);
	fill(watched, canvas->cols - 1, rows);
	draw_rule(watched, canvas, WATCHED_TABS_ROW + 1);
	sheet_draw(&watched->sheet, watched_scroll(watched), canvas, WATCHED_FIRST_ROW, rows, 0,
		   canvas->cols);
}
