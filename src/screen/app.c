/* The screen as a whole: see app.h. */
#include "screen/app.h"

#include "screen/keymap.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_ROW = 3 }; /* of the first line of a list */

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
