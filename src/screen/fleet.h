/* The list of all loops and work lists: which of them are shown, in which order, and the cursor. */
#ifndef SCREEN_FLEET_H
#define SCREEN_FLEET_H

#include "screen/canvas.h"
#include "screen/scroll.h"
#include "view/view_overview.h"

enum fleet_tab { FLEET_ALL, FLEET_NEEDS, FLEET_ACTIVE, FLEET_ENDED, FLEET_TABS };

enum { FLEET_READ = 200 }; /* loops that no index knows, at a refresh */

struct fleet {
	struct view_overview overview;
	enum fleet_tab tab;
	char *filter;            /* rows must have this text; or NULL */
	struct view_row **shown; /* valid until the next refresh */
	size_t count;
	struct scroll scroll;
	size_t counts[FLEET_TABS]; /* of rows in each tab, without the filter */
	int64_t cost_nusd;         /* of all loops */
	char *trouble;             /* why the state folder cannot be read, or NULL */
};

void fleet_open(struct fleet *fleet, const char *state);
void fleet_close(struct fleet *fleet);

/* Reads what has changed. Returns whether anything has. */
bool fleet_refresh(struct fleet *fleet);

void fleet_set_tab(struct fleet *fleet, int tab);
void fleet_set_filter(struct fleet *fleet, const char *text);

/* Returns the row of the cursor, or NULL. */
const struct view_row *fleet_row(const struct fleet *fleet);

/* Draws the heads of the tabs, and the list. */
void fleet_draw_tabs(const struct fleet *fleet, struct canvas *canvas, int row);
void fleet_draw(struct fleet *fleet, struct canvas *canvas, int row, int rows, int64_t now_ms);

/* Returns the tab at a column of the line of tabs, or -1. */
int fleet_tab_at(const struct fleet *fleet, int col);

/* The style and sign of a status. */
enum canvas_style fleet_style(const char *status);
const char *fleet_sign(const char *status);

#endif
