/* A loop that is open on the screen: see watched.h. */
#include "screen/watched.h"

#include "screen/figures.h"
#include "screen/fleet.h"
#include "screen/panel.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- reading ---- */

static void read_now(struct watched *watched)
{
	view_now_release(&watched->now);
	view_now_read(&watched->loop, &watched->now);
	view_limits_read(&watched->loop, watched->now_ms, &watched->limits);
}

static void read_iterations(struct watched *watched)
{
	struct view_iterations iterations;
	struct error ignored;

	if (view_iterations_read(&watched->loop, &iterations, &ignored) < 0)
		return;
	view_iterations_release(&watched->iterations);
	watched->iterations = iterations;
	watched->seq = watched->loop.state.last_seq;
}

int watched_open(struct watched *watched, const char *state, const char *id, struct error *err)
{
	struct client_loop loop;

	if (client_find(state, id, NULL, &loop, err) < 0)
		return -1;
	watched_close(watched);
	watched->state = state;
	watched->loop = loop;
	watched->open = true;
	watched->log.follow = true;
	watched->stale = true;
	return 0;
}

void watched_close(struct watched *watched)
{
	if (watched->open) {
		panel_log_close(watched);
		panel_changes_close(watched);
		view_now_release(&watched->now);
		view_iterations_release(&watched->iterations);
		client_loop_release(&watched->loop);
	}
	sheet_release(&watched->sheet);
	free(watched->sought);
	free(watched->needs);
	free(watched->doing);
	*watched = (struct watched){ .seq = -1,
				     .changes.job = VIEW_CHANGES_JOB_INIT,
				     .log.follow = true };
}

/* The tabs that show what changes with every event, or with the time. */
static bool is_live(enum watched_tab tab)
{
	return tab == WATCHED_ITERATIONS || tab == WATCHED_CHECKS || tab == WATCHED_COST;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = value ? mem_dup(value) : NULL;
}

void watched_refresh(struct watched *watched, const struct view_row *row, int64_t now_ms)
{
	bool news;

	watched->now_ms = now_ms;
	watched->gone = !row && access(watched->loop.folder, F_OK) < 0;
	if (watched->gone)
		return;
	if (row) {
		set_text(&watched->needs, row->needs);
		set_text(&watched->doing, row->now);
	}
	client_refresh(&watched->loop);
	if (watched->loop.damaged)
		return;
	read_now(watched);
	news = watched->seq != watched->loop.state.last_seq;
	if (news || (watched->loop.alive && is_live(watched->tab)))
		read_iterations(watched);
	if (news) {
		json_decref(watched->denials);
		watched->denials = NULL;
	}
	if ((news && watched->tab != WATCHED_CHANGES && watched->tab != WATCHED_FINDINGS) ||
	    (watched->loop.alive && is_live(watched->tab)))
		watched->stale = true;
	panel_log_open(watched);
}

/* ---- the sheet ---- */

struct scroll *watched_scroll(struct watched *watched)
{
	return &watched->scrolls[watched->tab];
}

/* Remembers the entry of the cursor, because the marks of lines change with the window. The sheet
 * must have been filled from the window as it is. */
static void keep_cursor(struct watched *watched)
{
	struct watched_log *log = &watched->log;
	const struct scroll *scroll = &watched->scrolls[WATCHED_LOG];
	size_t mark = scroll->at < watched->sheet.count ? watched->sheet.items[scroll->at].mark
							: SHEET_NO_MARK;
	size_t at = scroll->at;

	if (mark == SHEET_NO_MARK && at + 1 < watched->sheet.count)
		mark = watched->sheet.items[++at].mark;
	if (mark >= log->transcript.window.count)
		return;
	log->kept = (struct watched_place){ log->transcript.window.items[mark].offset,
					    log->transcript.window.items[mark].ordinal };
	log->kept_line = at - sheet_find(&watched->sheet, mark);
	log->kept_row = scroll->at - scroll->top;
}

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
	keep_cursor(watched);
}

bool watched_poll(struct watched *watched)
{
	if (!watched->open || watched->tab != WATCHED_LOG || !watched->log.open)
		return false;
	if (!view_transcript_poll(&watched->log.transcript))
		return false;
	watched->stale = true;
	return true;
}

int watched_fd(const struct watched *watched)
{
	return watched->open && watched->changes.job.work.pid > 0 ? watched->changes.job.work.answer
								  : -1;
}

void watched_read(struct watched *watched)
{
	panel_changes_end(watched);
}

/* ---- moving ---- */

void watched_set_tab(struct watched *watched, int tab)
{
	watched->tab = (enum watched_tab)((tab + WATCHED_TABS) % WATCHED_TABS);
	watched->stale = true;
	if (watched->tab == WATCHED_CHANGES && !watched->changes.path)
		panel_changes_start(watched, VIEW_CHANGES_FILES);
	if (watched->tab == WATCHED_FINDINGS)
		panel_changes_start(watched, VIEW_CHANGES_FINDINGS);
}

/* Loads the part of the transcript before or after the window when the cursor is at its edge. */
static void extend(struct watched *watched, long lines)
{
	struct watched_log *log = &watched->log;
	const struct scroll *scroll = &watched->scrolls[WATCHED_LOG];

	if (watched->tab != WATCHED_LOG || !log->open)
		return;
	if (lines < 0)
		log->follow = false;
	if (!watched->stale)
		keep_cursor(watched);
	if (lines < 0 && scroll->at == 0 && !view_transcript_at_begin(&log->transcript))
		watched->stale |= view_transcript_earlier(&log->transcript);
	if (lines > 0 && scroll_at_end(scroll) && !view_transcript_at_end(&log->transcript))
		watched->stale |= view_transcript_later(&log->transcript);
}

void watched_move(struct watched *watched, long lines)
{
	scroll_move(watched_scroll(watched), lines);
	extend(watched, lines);
}

void watched_wheel(struct watched *watched, long lines)
{
	scroll_wheel(watched_scroll(watched), lines);
	extend(watched, lines);
}

void watched_top(struct watched *watched)
{
	if (watched->tab == WATCHED_LOG && watched->log.open) {
		watched->log.follow = false;
		view_transcript_to(&watched->log.transcript, 0);
		watched->log.kept = (struct watched_place){ 0 };
		watched->log.kept_line = watched->log.kept_row = 0;
		watched->stale = true;
	}
	scroll_to(watched_scroll(watched), 0);
}

void watched_bottom(struct watched *watched)
{
	if (watched->tab == WATCHED_LOG && watched->log.open) {
		view_transcript_to_end(&watched->log.transcript);
		watched->log.follow = watched->log.iteration == watched->loop.state.iteration ||
				      !watched->loop.state.iteration;
		watched->stale = true;
	}
	scroll_to(watched_scroll(watched), SIZE_MAX);
}

void watched_follow(struct watched *watched)
{
	watched->log.follow = true;
	panel_log_open(watched);
	watched_set_tab(watched, WATCHED_LOG);
	watched_bottom(watched);
}

void watched_fold_all(struct watched *watched)
{
	if (watched->tab != WATCHED_LOG)
		return;
	watched->log.kept_line = 0;
	watched->log.unfolded = !watched->log.unfolded;
	watched->log.toggled_count = 0;
	watched->stale = true;
}

/* Shows the transcript of an attempt. */
static void show_attempt(struct watched *watched, uint32_t iteration, uint32_t attempt)
{
	watched->log.follow = false;
	watched->log.iteration = iteration;
	watched->log.attempt = attempt ? attempt : 1;
	watched->scrolls[WATCHED_LOG] = (struct scroll){ .rows = 1 };
	watched->log.kept = (struct watched_place){ 0 };
	panel_log_open(watched);
	watched->stale = true;
}

bool watched_step(struct watched *watched, int step)
{
	const struct view_iterations *all = &watched->iterations;
	size_t at = 0;

	while (at < all->count && (all->items[at].iteration != watched->log.iteration ||
				   all->items[at].attempt != watched->log.attempt))
		at++;
	if (at == all->count || (step < 0 && at == 0) || (step > 0 && at + 1 == all->count))
		return false;
	at = step < 0 ? at - 1 : at + 1;
	if (!all->items[at].iteration)
		return false;
	show_attempt(watched, all->items[at].iteration, all->items[at].attempt);
	return true;
}

/* Opens the diff of a file. */
static bool open_file(struct watched *watched, size_t mark)
{
	struct watched_changes *changes = &watched->changes;

	if (changes->path || mark >= changes->files.count)
		return false;
	changes->path = mem_dup(changes->files.items[mark].path);
	changes->file = mark;
	view_changes_release_diff(&changes->diff);
	panel_changes_start(watched, VIEW_CHANGES_DIFF);
	*watched_scroll(watched) = (struct scroll){ 0 };
	return true;
}

bool watched_act(struct watched *watched)
{
	const struct scroll *scroll = watched_scroll(watched);
	const struct view_iteration *item;
	size_t mark = scroll->at < watched->sheet.count ? watched->sheet.items[scroll->at].mark
							: SHEET_NO_MARK;

	if (mark == SHEET_NO_MARK)
		return false;
	switch (watched->tab) {
	case WATCHED_LOG:
		watched->log.kept_line = 0;
		watched->log.follow = false;
		return panel_log_toggle(watched, mark);
	case WATCHED_ITERATIONS:
	case WATCHED_COST:
		item = panel_iteration(watched, mark);
		if (!item || !item->iteration)
			return false;
		show_attempt(watched, item->iteration, item->attempt);
		watched_set_tab(watched, WATCHED_LOG);
		watched_top(watched);
		return true;
	case WATCHED_CHANGES:
		return open_file(watched, mark);
	default:
		return false;
	}
}

bool watched_back(struct watched *watched)
{
	struct watched_changes *changes = &watched->changes;
	struct scroll *scroll = &watched->scrolls[WATCHED_CHANGES];

	if (watched->tab != WATCHED_CHANGES || !changes->path)
		return false;
	free(changes->path);
	changes->path = NULL;
	watched->stale = true;
	if (!changes->read)
		panel_changes_start(watched, VIEW_CHANGES_FILES);
	/* The cursor goes back to the file, below the title. */
	scroll->count = changes->file + 2;
	scroll_to(scroll, changes->file + 1);
	return true;
}

/* ---- searching ---- */

/* Searches the whole transcript, of which a window is in memory. */
static bool search_log(struct watched *watched, const char *text, bool backwards)
{
	struct watched_log *log = &watched->log;
	struct view_search search = { .text = text, .backwards = backwards };

	search.offset = log->kept.offset;
	search.ordinal = log->kept.ordinal;
	if (view_transcript_search(&log->transcript, &search, UINT64_MAX) != VIEW_FOUND)
		return false;
	log->follow = false;
	if (view_transcript_find(&log->transcript, search.offset, search.ordinal) >=
		    log->transcript.window.count ||
	    search.offset < log->transcript.begin)
		view_transcript_to(&log->transcript, search.offset);
	log->kept = (struct watched_place){ search.offset, search.ordinal };
	log->kept_line = 0;
	log->kept_row = watched->scrolls[WATCHED_LOG].rows / 3;
	watched->stale = true;
	return true;
}

bool watched_search(struct watched *watched, const char *text, bool backwards)
{
	struct scroll *scroll = watched_scroll(watched);
	size_t at;

	if (!watched->sought || strcmp(text, watched->sought) != 0) {
		free(watched->sought);
		watched->sought = mem_dup(text);
	}
	if (watched->tab == WATCHED_LOG)
		return search_log(watched, watched->sought, backwards);
	at = sheet_search(&watched->sheet, watched->sought, scroll->at, backwards);
	if (at == watched->sheet.count)
		return false;
	scroll_to(scroll, at);
	return true;
}

/* ---- drawing ---- */

static void draw_head(const struct watched *watched, struct canvas *canvas)
{
	const struct loop_options *options = &watched->loop.state.options;
	const struct view_limit *of = watched->limits.of;
	const char *status = watched->gone ? "removed" : client_status(&watched->loop);
	struct figures time = figures_time(watched->limits.elapsed_ms);
	struct figures most = figures_time(of[VIEW_LIMIT_time].total);
	struct figures cost = figures_usd(watched->limits.cost_nusd);
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
	struct figures since = figures_time(watched->now_ms - now->since_ms);
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
