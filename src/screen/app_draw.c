/* Drawing the screen: see app.h. */
#include "screen/app.h"

#include "screen/compact.h"
#include "screen/keymap.h"
#include "util/clock.h"
#include "util/mem.h"

#include <string.h>

enum {
	DETAILS = 4,        /* rows about the row of the cursor */
	DETAILS_LEAST = 20, /* rows of a screen that has them */
};

/* The answer to: is all well, and what must I do? */
static void draw_sum(const struct app *app, struct canvas *canvas)
{
	const size_t *counts = app->fleet.counts;
	struct compact cost = compact_usd(app->fleet.cost_nusd);
	AUTO_FREE char *clock = clock_text(app->now_ms, CLOCK_TIME);
	AUTO_FREE char *right = mem_format("US$ %s  %s", cost.text, clock);
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
	AUTO_FREE char *began = NULL;
	struct compact most;
	int col;

	canvas_rule(canvas, row, 0, canvas->cols, CANVAS_dim, "\u2500");
	if (!item)
		return;
	began = clock_text(item->created_ms, CLOCK_MINUTE);
	most = compact_usd(item->most_nusd);
	canvas_put(canvas, row + 1, 1, canvas->cols - 1, CANVAS_bold,
		   item->title ? item->title : "");
	canvas_put(canvas, row + 2, 1, canvas->cols - 1, item->needs ? CANVAS_urgent : CANVAS_plain,
		   item->needs ? item->needs
		   : item->now ? item->now
			       : "");
	col = canvas_printf(canvas, row + 3, 1, canvas->cols - 1, CANVAS_dim, "%s  began %s",
			    item->id, began);
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
