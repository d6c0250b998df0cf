/*
 * A loop that is open on the screen: reading it, and moving in its tabs. Each tab is a panel
 * (screen/panel.h), which fills a sheet of lines.
 */
#ifndef SCREEN_WATCHED_H
#define SCREEN_WATCHED_H

#include "screen/watched_state.h"

/* Opens a loop. Returns 0, or -1 with err set. */
int watched_open(struct watched *watched, const char *state, const char *id, struct error *err);
void watched_close(struct watched *watched);

/* Reads what has changed. row: of the loop in the overview, or NULL. */
void watched_refresh(struct watched *watched, const struct view_row *row, int64_t now_ms);

/* Looks whether the transcript has grown; reads no more. Returns whether it has. */
bool watched_poll(struct watched *watched);

/* The descriptor of a comparison that is under way, or -1; when it is readable, read it. */
int watched_fd(const struct watched *watched);
void watched_read(struct watched *watched);

void watched_set_tab(struct watched *watched, int tab);

/* Moves the cursor by lines, or to the beginning or the end. */
void watched_move(struct watched *watched, long lines);
void watched_wheel(struct watched *watched, long lines);
void watched_top(struct watched *watched);
void watched_bottom(struct watched *watched);

/* Does what Enter does on a line. Returns whether something was opened or closed. On a denial, the
 * caller asks for the rule. */
bool watched_act(struct watched *watched);

/* Closes what Enter has opened. Returns whether there was anything. */
bool watched_back(struct watched *watched);

void watched_follow(struct watched *watched);
void watched_fold_all(struct watched *watched);

/* Shows another iteration. Returns whether there is one. */
bool watched_step(struct watched *watched, int step);

/* Searches from the cursor on. Returns whether the text was found. */
bool watched_search(struct watched *watched, const char *text, bool backwards);

/* Draws everything between the first and the last row of the screen. */
void watched_draw(struct watched *watched, struct canvas *canvas);

enum { WATCHED_TABS_ROW = 3, WATCHED_FIRST_ROW = 5 };

/* Returns the tab at a column of the line of tabs, or -1. */
int watched_tab_at(int col);

/* The scroll of the tab that is open. */
struct scroll *watched_scroll(struct watched *watched);

#endif
