/* The list of all loops and work lists: see fleet.h. */
#include "screen/fleet.h"

#include "screen/compact.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tab_titles[FLEET_TABS] = {
	[FLEET_ALL] = "All",
	[FLEET_NEEDS] = "Need you",
	[FLEET_ACTIVE] = "Active",
	[FLEET_ENDED] = "Ended",
};

void fleet_open(struct fleet *fleet, const char *state)
{
	*fleet = (struct fleet){ 0 };
	view_overview_open(&fleet->overview, state);
}

void fleet_close(struct fleet *fleet)
{
	view_overview_close(&fleet->overview);
	free(fleet->filter);
	free(fleet->shown);
	free(fleet->trouble);
	*fleet = (struct fleet){ 0 };
}

static enum fleet_tab tab_of(const struct view_row *row)
{
	if (row->needs)
		return FLEET_NEEDS;
	return row->ended ? FLEET_ENDED : FLEET_ACTIVE;
}

static bool has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool passes(const struct fleet *fleet, const struct view_row *row)
{
	const char *part = fleet->filter;

	return !part || has(row->id, part) || has(row->name, part) || has(row->title, part) ||
	       has(row->status, part) || has(row->project, part) || has(row->now, part);
}

/* Is a loop shown with its work list alone? One that needs a person is always shown. */
static bool is_folded(const struct fleet *fleet, const struct view_row *row)
{
	return row->of && !row->needs && view_overview_find(&fleet->overview, row->of);
}

/* Adds the rows of a group, the newest first. */
static void add_group(struct fleet *fleet, enum fleet_tab group)
{
	const struct view_overview *overview = &fleet->overview;

	for (size_t i = overview->count; i-- > 0;) {
		struct view_row *row = overview->rows[i];

		if (tab_of(row) != group || is_folded(fleet, row))
			continue;
		fleet->counts[group]++;
		fleet->counts[FLEET_ALL]++;
		if ((fleet->tab == FLEET_ALL || fleet->tab == group) && passes(fleet, row))
			fleet->shown[fleet->count++] = row;
	}
}

static size_t index_of(const struct fleet *fleet, const char *id)
{
	for (size_t i = 0; id && i < fleet->count; i++)
		if (strcmp(fleet->shown[i]->id, id) == 0)
			return i;
	return fleet->scroll.at;
}

/* Chooses the rows; the cursor goes to the row with this id, if it is there. */
static void choose(struct fleet *fleet, const char *id)
{
	const struct view_overview *overview = &fleet->overview;

	fleet->shown = mem_resize(fleet->shown, overview->count + 1, sizeof(struct view_row *));
	fleet->count = 0;
	memset(fleet->counts, 0, sizeof fleet->counts);
	for (int group = FLEET_NEEDS; group < FLEET_TABS; group++)
		add_group(fleet, (enum fleet_tab)group);
	fleet->cost_nusd = 0;
	for (size_t i = 0; i < overview->count; i++)
		fleet->cost_nusd += overview->rows[i]->batch ? 0 : overview->rows[i]->cost_nusd;
	scroll_fit(&fleet->scroll, fleet->count, (int)fleet->scroll.rows);
	scroll_to(&fleet->scroll, index_of(fleet, id));
}

bool fleet_refresh(struct fleet *fleet)
{
	uint64_t version = fleet->overview.version;
	const struct view_row *row = fleet_row(fleet);
	AUTO_FREE char *id = row ? mem_dup(row->id) : NULL;
	struct error err;

	free(fleet->trouble);
	fleet->trouble = NULL;
	if (view_overview_refresh(&fleet->overview, FLEET_READ, &err) < 0)
		fleet->trouble = mem_dup(err.text);
	choose(fleet, id);
	return fleet->overview.version != version;
}

/* Chooses the rows again, and keeps the cursor on its row. */
static void choose_again(struct fleet *fleet)
{
	const struct view_row *row = fleet_row(fleet);
	AUTO_FREE char *id = row ? mem_dup(row->id) : NULL;

	choose(fleet, id);
}

void fleet_set_tab(struct fleet *fleet, int tab)
{
	fleet->tab = (enum fleet_tab)((tab + FLEET_TABS) % FLEET_TABS);
	choose_again(fleet);
}

void fleet_set_filter(struct fleet *fleet, const char *text)
{
	free(fleet->filter);
	fleet->filter = *text ? mem_dup(text) : NULL;
	choose_again(fleet);
}

const struct view_row *fleet_row(const struct fleet *fleet)
{
	return fleet->scroll.at < fleet->count ? fleet->shown[fleet->scroll.at] : NULL;
}

/* ---- drawing ---- */

enum canvas_style fleet_style(const char *status)
{
	if (strcmp(status, "completed") == 0)
		return CANVAS_good;
	if (strcmp(status, "failed") == 0 || strcmp(status, "aborted") == 0)
		return CANVAS_bad;
	if (strcmp(status, "running") == 0 || strcmp(status, "starting") == 0)
		return CANVAS_info;
	return CANVAS_warning;
}

const char *fleet_sign(const char *status)
{
	enum canvas_style style = fleet_style(status);

	return style == CANVAS_good   ? "\u2713"
	       : style == CANVAS_bad  ? "\u2717"
	       : style == CANVAS_info ? "\u25cf"
				      : "\u25cb";
}

/* Writes the head of a tab. */
static void tab_text(const struct fleet *fleet, int tab, char text[64])
{
	snprintf(text, 64, "%d %s %zu", tab + 1, tab_titles[tab], fleet->counts[tab]);
}

void fleet_draw_tabs(const struct fleet *fleet, struct canvas *canvas, int row)
{
	int col = 1;
	char text[64];

	for (int tab = 0; tab < FLEET_TABS; tab++) {
		tab_text(fleet, tab, text);
		col = canvas_put(canvas, row, col, canvas->cols,
				 tab == (int)fleet->tab                         ? CANVAS_chosen
				 : tab == FLEET_NEEDS && fleet->counts[tab] > 0 ? CANVAS_urgent
										: CANVAS_dim,
				 text) +
		      3;
	}
	if (fleet->filter)
		canvas_printf(canvas, row, col, canvas->cols, CANVAS_info, "/%s", fleet->filter);
}

int fleet_tab_at(const struct fleet *fleet, int col)
{
	int from = 1;
	char text[64];

	for (int tab = 0; tab < FLEET_TABS; tab++) {
		tab_text(fleet, tab, text);
		if (col >= from && col < from + (int)strlen(text))
			return tab;
		from += (int)strlen(text) + 3;
	}
	return -1;
}

/* The first columns of the list; the last one has the rest of the line. */
enum { SIGN = 1, NAME = 3, STATUS = 25, ITERATION = 38, TIME = 47, COST = 55, WHAT = 63 };

enum { WIDE = 120 };

/* Returns where the last column begins: on a wide screen, the task has a column of its own. */
static int last_column(const struct canvas *canvas)
{
	return canvas->cols < WIDE ? WHAT : WHAT + (canvas->cols - WHAT) / 2;
}

static void draw_heads(struct canvas *canvas, int row)
{
	int last = last_column(canvas);

	canvas_put(canvas, row, NAME, canvas->cols, CANVAS_dim, "LOOP");
	canvas_put(canvas, row, STATUS, canvas->cols, CANVAS_dim, "STATUS");
	canvas_put_right(canvas, row, ITERATION, TIME - 2, CANVAS_dim, "ITER");
	canvas_put_right(canvas, row, TIME, COST - 1, CANVAS_dim, "TIME");
	canvas_put_right(canvas, row, COST, WHAT - 1, CANVAS_dim, "US$");
	if (last > WHAT)
		canvas_put(canvas, row, WHAT, last - 1, CANVAS_dim, "TASK");
	canvas_put(canvas, row, last, canvas->cols, CANVAS_dim, last > WHAT ? "NOW" : "WHAT");
}

static void draw_iteration(const struct view_row *item, struct canvas *canvas, int row)
{
	char text[48];

	if (item->iterations)
		snprintf(text, sizeof text, "%u/%u", item->iteration, item->iterations);
	else
		snprintf(text, sizeof text, "%u", item->iteration);
	canvas_put_right(canvas, row, ITERATION, TIME - 2, CANVAS_plain, text);
}

static void draw_what(const struct view_row *item, struct canvas *canvas, int row)
{
	const char *title = item->title ? item->title : "";
	int last = last_column(canvas);

	if (last > WHAT)
		canvas_put(canvas, row, WHAT, last - 1, CANVAS_plain, title);
	if (item->needs)
		canvas_put(canvas, row, last, canvas->cols, CANVAS_urgent, item->needs);
	else if (!item->ended && item->now && !item->batch)
		canvas_put(canvas, row, last, canvas->cols, CANVAS_plain, item->now);
	else if (last == WHAT)
		canvas_put(canvas, row, WHAT, canvas->cols, CANVAS_dim, title);
}

static void draw_row(const struct view_row *item, struct canvas *canvas, int row, int64_t now_ms)
{
	enum canvas_style style = item->needs ? CANVAS_urgent : fleet_style(item->status);
	struct compact time = compact_time(view_row_elapsed_ms(item, now_ms));
	struct compact cost = compact_usd(item->cost_nusd);

	canvas_put(canvas, row, SIGN, NAME, style,
		   item->needs   ? "!"
		   : item->batch ? "\u2022"
				 : fleet_sign(item->status));
	canvas_put(canvas, row, NAME, STATUS - 1, item->batch ? CANVAS_bold : CANVAS_plain,
		   item->name ? item->name : item->id);
	canvas_put(canvas, row, STATUS, ITERATION - 1, style, item->status);
	draw_iteration(item, canvas, row);
	canvas_put_right(canvas, row, TIME - 1, COST - 1, CANVAS_plain,
			 item->batch ? "" : time.text);
	canvas_put_right(canvas, row, COST - 1, WHAT - 1, CANVAS_plain, cost.text);
	draw_what(item, canvas, row);
}

static void draw_nothing(const struct fleet *fleet, struct canvas *canvas, int row)
{
	if (fleet->trouble)
		canvas_put(canvas, row, NAME, canvas->cols, CANVAS_bad, fleet->trouble);
	else if (fleet->filter)
		canvas_put(canvas, row, NAME, canvas->cols, CANVAS_dim,
			   "no loop has this text (Esc removes the filter)");
	else if (fleet->tab != FLEET_ALL)
		canvas_put(canvas, row, NAME, canvas->cols, CANVAS_dim, "none");
	else
		canvas_put(canvas, row, NAME, canvas->cols, CANVAS_dim,
			   "no loops yet: ringfence run \"...\" starts one");
}

void fleet_draw(struct fleet *fleet, struct canvas *canvas, int row, int rows, int64_t now_ms)
{
	scroll_fit(&fleet->scroll, fleet->count, rows - 1);
	draw_heads(canvas, row);
	if (!fleet->count)
		draw_nothing(fleet, canvas, row + 1);
	for (int i = 0; i < rows - 1 && fleet->scroll.top + (size_t)i < fleet->count; i++) {
		size_t at = fleet->scroll.top + (size_t)i;

		draw_row(fleet->shown[at], canvas, row + 1 + i, now_ms);
		if (at == fleet->scroll.at)
			canvas_mark(canvas, row + 1 + i, 0, canvas->cols);
	}
}
