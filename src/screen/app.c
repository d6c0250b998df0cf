/* The screen as a whole: see app.h. */
#include "screen/app.h"

#include "screen/app_act.h"
#include "screen/figures.h"
#include "screen/keymap.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { DETAILS = 4, DETAILS_LEAST = 20, LIST_ROW = 3 };

int app_open(struct app *app, const char *state, const char *loop, int64_t now_ms,
	     struct error *err)
{
	*app = (struct app){ .state = state, .attached = loop != NULL, .job = JOB_INIT };
	watched_close(&app->watched);
	fleet_open(&app->fleet, state);
	if (loop && watched_open(&app->watched, state, loop, err) < 0) {
		app_close(app);
		return -1;
	}
	app->place = loop ? APP_LOOP : APP_FLEET;
	app_tick(app, now_ms);
	return 0;
}

void app_close(struct app *app)
{
	dialog_close(&app->dialog);
	watched_close(&app->watched);
	tasks_close(&app->tasks);
	fleet_close(&app->fleet);
	if (app->work != APP_IDLE)
		job_forget(&app->job);
	client_loop_release(&app->picked);
	free(app->target);
	free(app->notice);
	app->target = app->notice = NULL;
}

void app_tick(struct app *app, int64_t now_ms)
{
	app->now_ms = now_ms;
	app->news = false;
	fleet_refresh(&app->fleet);
	if (app->place == APP_TASKS)
		tasks_refresh(&app->tasks);
	if (app->watched.open)
		watched_refresh(&app->watched,
				view_overview_find(&app->fleet.overview, app->watched.loop.id),
				now_ms);
}

bool app_poll(struct app *app)
{
	return app->place == APP_LOOP && watched_poll(&app->watched);
}

/* ---- moving ---- */

static long page_of(const struct scroll *scroll)
{
	return scroll->rows > 1 ? (long)scroll->rows - 1 : 1;
}

static struct scroll *scroll_of(struct app *app)
{
	return app->place == APP_FLEET   ? &app->fleet.scroll
	       : app->place == APP_TASKS ? &app->tasks.scroll
					 : watched_scroll(&app->watched);
}

static void move(struct app *app, long lines)
{
	if (app->place == APP_LOOP)
		watched_move(&app->watched, lines);
	else
		scroll_move(scroll_of(app), lines);
}

static void go_to_edge(struct app *app, bool top)
{
	if (app->place != APP_LOOP)
		scroll_to(scroll_of(app), top ? 0 : SIZE_MAX);
	else if (top)
		watched_top(&app->watched);
	else
		watched_bottom(&app->watched);
}

static void open_loop(struct app *app, const char *id)
{
	struct error err;

	if (watched_open(&app->watched, app->state, id, &err) < 0) {
		app_act_tell(app, true, err.text);
		return;
	}
	app->place = APP_LOOP;
	app_tick(app, app->now_ms);
}

static void open_row(struct app *app)
{
	const struct view_row *row = fleet_row(&app->fleet);
	struct error err;

	if (!row)
		return;
	if (!row->batch) {
		AUTO_FREE char *id = mem_dup(row->id);

		open_loop(app, id);
	} else if (tasks_open(&app->tasks, app->state, row->id, &err) < 0) {
		app_act_tell(app, true, err.text);
	} else {
		app->place = APP_TASKS;
	}
}

static void open_task(struct app *app)
{
	const char *loop = tasks_loop(&app->tasks);

	if (loop)
		open_loop(app, loop);
	else
		app_act_tell(app, false, "this task has no loop yet");
}

static void open_line(struct app *app)
{
	if (app->place == APP_FLEET)
		open_row(app);
	else if (app->place == APP_TASKS)
		open_task(app);
	else if (app->watched.tab == WATCHED_DENIALS)
		app_act_allow(app);
	else
		watched_act(&app->watched);
}

static void go_back(struct app *app)
{
	if (app->place == APP_LOOP && watched_back(&app->watched))
		return;
	if (app->place == APP_FLEET) {
		fleet_set_filter(&app->fleet, "");
	} else if (app->place == APP_LOOP && app->tasks.open) {
		watched_close(&app->watched);
		app->place = APP_TASKS;
	} else if (!app->attached) {
		watched_close(&app->watched);
		tasks_close(&app->tasks);
		app->place = APP_FLEET;
	}
}

static void set_tab(struct app *app, int tab)
{
	if (app->place == APP_FLEET)
		fleet_set_tab(&app->fleet, tab);
	else if (app->place == APP_LOOP)
		watched_set_tab(&app->watched, tab);
}

static int tab_of(const struct app *app)
{
	return app->place == APP_FLEET ? (int)app->fleet.tab : (int)app->watched.tab;
}

/* ---- searching ---- */

static void begin_search(struct app *app)
{
	if (app->place == APP_FLEET)
		dialog_search(&app->dialog, app->fleet.filter ? app->fleet.filter : "");
	else if (app->place == APP_LOOP)
		dialog_search(&app->dialog, "");
}

static void find(struct app *app, const char *text, bool backwards)
{
	if (!text || !*text)
		app_act_tell(app, false, "nothing to search for (/ begins a search)");
	else if (!watched_search(&app->watched, text, backwards))
		app_act_tell(app, false, "not found");
}

static void search(struct app *app)
{
	AUTO_FREE char *text = mem_dup(app->dialog.editor.text);

	dialog_close(&app->dialog);
	if (app->place == APP_FLEET)
		fleet_set_filter(&app->fleet, text);
	else
		find(app, text, false);
}

/* ---- keys ---- */

static void run_command(struct app *app, enum keymap_command command, int number)
{
	struct watched *watched = &app->watched;

	switch (command) {
	case KEYMAP_COMMAND_up:
		move(app, -1);
		break;
	case KEYMAP_COMMAND_down:
		move(app, 1);
		break;
	case KEYMAP_COMMAND_page_up:
		move(app, -page_of(scroll_of(app)));
		break;
	case KEYMAP_COMMAND_page_down:
		move(app, page_of(scroll_of(app)));
		break;
	case KEYMAP_COMMAND_top:
	case KEYMAP_COMMAND_bottom:
		go_to_edge(app, command == KEYMAP_COMMAND_top);
		break;
	case KEYMAP_COMMAND_open:
		open_line(app);
		break;
	case KEYMAP_COMMAND_back:
		go_back(app);
		break;
	case KEYMAP_COMMAND_next_tab:
		set_tab(app, tab_of(app) + 1);
		break;
	case KEYMAP_COMMAND_previous_tab:
		set_tab(app, tab_of(app) - 1);
		break;
	case KEYMAP_COMMAND_tab:
		if (app->place == APP_LOOP || number <= FLEET_TABS)
			set_tab(app, number - 1);
		break;
	case KEYMAP_COMMAND_search:
		begin_search(app);
		break;
	case KEYMAP_COMMAND_next:
	case KEYMAP_COMMAND_previous:
		find(app, watched->sought, command == KEYMAP_COMMAND_previous);
		break;
	case KEYMAP_COMMAND_follow:
		watched_follow(watched);
		break;
	case KEYMAP_COMMAND_fold:
		watched_fold_all(watched);
		break;
	case KEYMAP_COMMAND_earlier:
	case KEYMAP_COMMAND_later:
		if (!watched_step(watched, command == KEYMAP_COMMAND_later ? 1 : -1))
			app_act_tell(app, false, "there is no such iteration");
		break;
	case KEYMAP_COMMAND_help:
		dialog_help(&app->dialog);
		break;
	case KEYMAP_COMMAND_redraw:
		app->redraws = true;
		break;
	case KEYMAP_COMMAND_suspend:
		app->suspends = true;
		break;
	case KEYMAP_COMMAND_quit:
		app->quits = true;
		break;
	case KEYMAP_COMMAND_COUNT:
		break;
	}
}

static void answer(struct app *app, enum dialog_answer answer)
{
	if (answer == DIALOG_STAYS)
		return;
	if (answer == DIALOG_CLOSES)
		dialog_close(&app->dialog);
	else if (app->dialog.kind == DIALOG_SEARCH)
		search(app);
	else
		app_act_confirmed(app);
}

void app_key(struct app *app, uint32_t key, bool pasted)
{
	enum keymap_command command;
	enum op_action action;
	int number;

	if (app->dialog.kind != DIALOG_NONE) {
		answer(app, dialog_key(&app->dialog, key, pasted));
		return;
	}
	if (pasted)
		return;
	app_act_tell(app, false, NULL);
	if (keymap_find(key, app->place == APP_LOOP ? KEYMAP_LOOP : KEYMAP_LIST, &command,
			&number) == 0)
		run_command(app, command, number);
	else if (keymap_find_action(key, &action) == 0)
		app_act_begin(app, action);
}

/* ---- the mouse ---- */

/* Selects the line at this row of the list, or opens it if it is selected. */
static void click_line(struct app *app, long line)
{
	struct scroll *scroll = scroll_of(app);
	size_t at = scroll->top + (size_t)line;

	if (line < 0 || (size_t)line >= scroll->rows || at >= scroll->count)
		return;
	if (at == scroll->at)
		open_line(app);
	else
		scroll_to(scroll, at);
}

void app_click(struct app *app, int row, int col)
{
	int tab = -1;

	if (app->dialog.kind != DIALOG_NONE)
		return;
	if (app->place == APP_FLEET && row == 1)
		tab = fleet_tab_at(&app->fleet, col);
	if (app->place == APP_LOOP && row == WATCHED_TABS_ROW)
		tab = watched_tab_at(col);
	if (tab >= 0)
		set_tab(app, tab);
	else
		click_line(app, row - (app->place == APP_LOOP ? WATCHED_FIRST_ROW : LIST_ROW));
}

void app_wheel(struct app *app, int lines)
{
	if (app->dialog.kind != DIALOG_NONE)
		dialog_wheel(&app->dialog, lines);
	else if (app->place == APP_LOOP)
		watched_wheel(&app->watched, lines);
	else
		scroll_wheel(scroll_of(app), lines);
}

/* ---- drawing ---- */

/* The answer to: is all well, and what must I do? */
static void draw_sum(const struct app *app, struct canvas *canvas)
{
	const size_t *counts = app->fleet.counts;
	struct figures cost = figures_usd(app->fleet.cost_nusd);
	struct figures clock = figures_clock(app->now_ms);
	AUTO_FREE char *right = mem_format("US$ %s  %s", cost.text, clock.text);
	int end = canvas_put_right(canvas, 0, 40, canvas->cols - 1, CANVAS_dim, right);
	int col = canvas_put(canvas, 0, 1, end, CANVAS_title, "ringfence");

	col += 2;
	if (counts[FLEET_NEEDS])
		canvas_printf(canvas, 0, col, end - 1, CANVAS_urgent, "%zu need%s you",
			      counts[FLEET_NEEDS], counts[FLEET_NEEDS] == 1 ? "s" : "");
	else if (counts[FLEET_ACTIVE])
		canvas_put(canvas, 0, col, end - 1, CANVAS_good, "all is well");
	else
		canvas_put(canvas, 0, col, end - 1, CANVAS_dim, "nothing runs");
}

/* Details of the row of the cursor. */
static void draw_details(const struct app *app, struct canvas *canvas, int row)
{
	const struct view_row *item = fleet_row(&app->fleet);
	struct figures began, most;
	int col;

	canvas_rule(canvas, row, 0, canvas->cols, CANVAS_dim, "\u2500");
	if (!item)
		return;
	began = figures_date(item->created_ms);
	most = figures_usd(item->most_nusd);
	canvas_put(canvas, row + 1, 1, canvas->cols - 1, CANVAS_bold,
		   item->title ? item->title : "");
	canvas_put(canvas, row + 2, 1, canvas->cols - 1, item->needs ? CANVAS_urgent : CANVAS_plain,
		   item->needs ? item->needs
		   : item->now ? item->now
			       : "");
	col = canvas_printf(canvas, row + 3, 1, canvas->cols - 1, CANVAS_dim, "%s  began %s",
			    item->id, began.text);
	if (item->most_nusd)
		col = canvas_printf(canvas, row + 3, col, canvas->cols - 1, CANVAS_dim,
				    "  at most US$ %s", most.text);
	if (item->project)
		canvas_printf(canvas, row + 3, col, canvas->cols - 1, CANVAS_dim, "  %s",
			      item->project);
}

static void draw_fleet(struct app *app, struct canvas *canvas)
{
	bool details = canvas->rows >= DETAILS_LEAST;
	int rows = canvas->rows - 2 - 1 - (details ? DETAILS : 0);

	draw_sum(app, canvas);
	fleet_draw_tabs(&app->fleet, canvas, 1);
	fleet_draw(&app->fleet, canvas, 2, rows, app->now_ms);
	if (details)
		draw_details(app, canvas, 2 + rows);
}

static void draw_tasks(struct app *app, struct canvas *canvas)
{
	const struct batch_client *batch = &app->tasks.batch;
	const char *status = batch_client_status(batch);
	int col;

	col = canvas_printf(canvas, 0, 1, canvas->cols, CANVAS_title, "%s  ", batch->id);
	canvas_put(canvas, 0, col, canvas->cols, fleet_style(status), status);
	canvas_put(canvas, 1, 1, canvas->cols - 1, CANVAS_warning,
		   batch->state.reason ? batch->state.reason : "");
	tasks_draw(&app->tasks, canvas, 2, canvas->rows - 3);
}

/* Draws a key and what it does. Returns the column after it. */
static int draw_hint(struct canvas *canvas, int col, int end, uint32_t key, const char *hint)
{
	AUTO_BUFFER struct buffer name = BUFFER_INIT(64);
	int row = canvas->rows - 1;

	keymap_add_name(&name, key);
	if (col + canvas_columns(buffer_text(&name), 0) + 1 + canvas_columns(hint, 0) > end)
		return end;
	col = canvas_put(canvas, row, col, end, CANVAS_key, buffer_text(&name));
	return canvas_printf(canvas, row, col, end, CANVAS_dim, " %s", hint) + 2;
}

/* At the left, the actions that make sense for the loop; at the right, the keys that always do. */
static void draw_footer(const struct app *app, struct canvas *canvas)
{
	enum { RIGHT = 17 };
	static const enum keymap_command always[] = { KEYMAP_COMMAND_help, KEYMAP_COMMAND_quit };
	const struct client_loop *loop = app_act_loop(app);
	int end = canvas->cols - RIGHT;
	int col = 1;

	if (app->notice) {
		canvas_put(canvas, canvas->rows - 1, 1, canvas->cols - 1,
			   app->failed ? CANVAS_bad : CANVAS_good, app->notice);
		return;
	}
	for (int i = 0; loop && i < OP_ACTION_COUNT; i++) {
		const struct op_action_form *form = op_action_form((enum op_action)i);

		if (op_action_is_offered((enum op_action)i, loop))
			col = draw_hint(canvas, col, end, (uint32_t)form->key, form->title);
	}
	draw_hint(canvas, col, end, KEYMAP_ENTER, keymap_row(KEYMAP_COMMAND_open)->hint);
	col = end + 2;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		col = draw_hint(canvas, col, canvas->cols, keymap_row(always[i])->keys[0],
				keymap_row(always[i])->hint);
}

static void draw_too_small(struct canvas *canvas)
{
	canvas_printf(canvas, 0, 0, canvas->cols, CANVAS_warning, "The terminal is too small:");
	canvas_printf(canvas, 1, 0, canvas->cols, CANVAS_plain, "%dx%d, at least %dx%d.",
		      canvas->cols, canvas->rows, APP_COLS_LEAST, APP_ROWS_LEAST);
	canvas_printf(canvas, 2, 0, canvas->cols, CANVAS_plain, "q quits.");
}

/* Reads the loop of the row of the cursor, if it has ended: the overview has only a line. */
static void pick(struct app *app)
{
	const struct view_row *row = app->place == APP_FLEET ? fleet_row(&app->fleet) : NULL;
	struct client_loop loop;
	struct error ignored;

	if (!row || row->batch || row->loop ||
	    (app->picked.id && strcmp(app->picked.id, row->id) == 0))
		return;
	client_loop_release(&app->picked);
	app->picked = (struct client_loop){ 0 };
	if (client_find(app->state, row->id, NULL, &loop, &ignored) == 0)
		app->picked = loop;
}

void app_draw(struct app *app, struct canvas *canvas)
{
	canvas_clear(canvas);
	if (canvas->rows < APP_ROWS_LEAST || canvas->cols < APP_COLS_LEAST) {
		draw_too_small(canvas);
		return;
	}
	pick(app);
	if (app->place == APP_FLEET)
		draw_fleet(app, canvas);
	else if (app->place == APP_TASKS)
		draw_tasks(app, canvas);
	else
		watched_draw(&app->watched, canvas);
	draw_footer(app, canvas);
	dialog_draw(&app->dialog, canvas);
}

char *app_farewell(struct app *app)
{
	size_t going = 0;
	const struct view_overview *overview = &app->fleet.overview;

	for (size_t i = 0; i < overview->count; i++)
		going += !overview->rows[i]->batch && overview->rows[i]->ticks;
	if (!going)
		return mem_dup("no loop is running");
	return mem_format("%zu loop%s on: ringfence watch shows %s again", going,
			  going == 1 ? " goes" : "s go", going == 1 ? "it" : "them");
}
