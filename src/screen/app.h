/*
 * The screen as a whole, without a terminal: where a person is, what a key does there, what is
 * under way. Events go in; a canvas comes out.
 */
#ifndef SCREEN_APP_H
#define SCREEN_APP_H

#include "screen/canvas.h"
#include "screen/dialog.h"
#include "screen/fleet.h"
#include "screen/job.h"
#include "screen/tasks.h"
#include "screen/watched.h"

#include <stdbool.h>
#include <stdint.h>

enum { APP_ROWS_LEAST = 15, APP_COLS_LEAST = 60 };

enum app_place { APP_FLEET, APP_TASKS, APP_LOOP };

/* Work in a process of its own. */
enum app_work { APP_IDLE, APP_ACTION, APP_CHECKPOINTS, APP_RULES };

struct app {
	const char *state; /* Ringfence's state folder */
	bool attached;     /* to one loop: there is no list to go back to */
	enum app_place place;
	struct fleet fleet;
	struct tasks tasks;
	struct watched watched;
	struct client_loop picked; /* of the cursor, if it has ended */
	struct dialog dialog;
	struct job job;
	enum app_work work;
	enum op_action action; /* that the work is for */
	char *target;          /* and its loop, or a report */
	int64_t checkpoint;    /* that was chosen */
	char *notice;          /* the last thing that happened, in the footer; or NULL */
	bool failed;           /* the notice is bad news */
	int64_t now_ms;
	bool news;                     /* an action has changed something: time for a tick */
	bool quits, redraws, suspends; /* what the terminal has to do */
};

/* loop: to attach to; NULL: all loops. Returns 0, or -1 with err set. */
int app_open(struct app *app, const char *state, const char *loop, int64_t now_ms,
	     struct error *err);
void app_close(struct app *app);

/* Reads what has changed, once a second; and, more often, whether a log has grown: returns whether
 * it has. */
void app_tick(struct app *app, int64_t now_ms);
bool app_poll(struct app *app);

void app_key(struct app *app, uint32_t key, bool pasted);
void app_click(struct app *app, int row, int col);
void app_wheel(struct app *app, int lines);

void app_draw(struct app *app, struct canvas *canvas);

/* Returns what is printed after the end: which loops go on. The caller frees it. */
char *app_farewell(struct app *app);

/* Actions, their questions, and rules for denials: app_act.c. */

/* The loop that an action would be for, as far as it is known; or NULL. */
const struct client_loop *app_act_loop(const struct app *app);

/* Begins an action: asks for its text or checkpoint, or starts it, which asks its question. */
void app_act_begin(struct app *app, enum op_action action);

/* Goes on after a yes, a text or a choice in the dialog. */
void app_act_confirmed(struct app *app);

/* Shows the rule that would allow what was denied in the iteration shown. */
void app_act_allow(struct app *app);

/* The descriptor of what is under way, or -1; when it is readable, read it. */
int app_act_fd(const struct app *app);
void app_act_read(struct app *app);

/* Sets the notice in the footer, or removes it. */
void app_act_tell(struct app *app, bool failed, const char *text);

#endif
