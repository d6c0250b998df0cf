/*
 * A loop that is open on the screen: reading it, and moving in its tabs. Each tab is a panel
 * (screen/panel.h), which fills a sheet of lines.
 */
#ifndef SCREEN_WATCHED_H
#define SCREEN_WATCHED_H

#include "screen/canvas.h"
#include "screen/scroll.h"
#include "screen/sheet.h"
#include "view/view_changes.h"
#include "view/view_iterations.h"
#include "view/view_limits.h"
#include "view/view_now.h"
#include "view/view_row.h"
#include "view/view_transcript.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum watched_tab {
	WATCHED_LOG,
	WATCHED_ITERATIONS,
	WATCHED_CHECKS,
	WATCHED_FINDINGS,
	WATCHED_CHANGES,
	WATCHED_DENIALS,
	WATCHED_COST,
	WATCHED_PROMPT,
	WATCHED_TABS
};

/* The place of an entry in a transcript. */
struct watched_place {
	uint64_t offset;
	uint32_t ordinal;
};

enum { WATCHED_TOGGLED = 1000 }; /* entries that are folded unlike the others */

/* The transcript of an agent. */
struct watched_log {
	bool open, follow;
	uint32_t iteration, attempt; /* of the transcript */
	struct view_transcript transcript;
	bool unfolded; /* all but the toggled ones */
	struct watched_place toggled[WATCHED_TOGGLED];
	size_t toggled_count;

	/* The cursor, while the window moves. */
	struct watched_place kept;
	size_t kept_line, kept_row; /* in the entry, and on the screen */
};

/* The results of comparisons. */
struct watched_changes {
	struct view_changes_job job;
	enum view_changes_kind kind; /* of the job */
	bool read;                   /* the list of files is known */
	struct view_changes files;
	struct view_diff diff;
	char *path;       /* of the file whose diff is open, or NULL */
	size_t file;      /* its index */
	bool found;       /* the findings are known */
	json_t *findings; /* or NULL */
	char *trouble;    /* why the comparison failed, or NULL */
};

struct watched {
	const char *state; /* Ringfence's state folder */
	struct client_loop loop;
	bool open;
	bool gone; /* the loop was removed */
	struct view_now now;
	char *needs, *doing; /* of its row in the overview; or NULL */
	struct view_limits limits;
	struct view_iterations iterations;
	int64_t seq; /* of the journal when the iterations were read */
	int64_t now_ms;
	enum watched_tab tab;
	struct sheet sheet;
	struct scroll scrolls[WATCHED_TABS];
	bool stale;   /* the sheet must be filled again */
	int width;    /* of the sheet */
	char *sought; /* the text of the last search, or NULL */
	struct watched_log log;
	struct watched_changes changes;
	json_t *denials; /* of the iteration that the log shows; or NULL */
};

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

/* Remembers the entry of the cursor, because the marks of lines change with the window. The sheet
 * must have been filled from the window as it is. */
void watched_keep_cursor(struct watched *watched);

/* The scroll of the tab that is open. */
struct scroll *watched_scroll(struct watched *watched);

#endif
