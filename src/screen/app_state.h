/* The structs of the screen as a whole: see app.h. */
#ifndef SCREEN_APP_STATE_H
#define SCREEN_APP_STATE_H

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

#endif
