/* The tasks of a work list that is open. */
#ifndef SCREEN_TASKS_H
#define SCREEN_TASKS_H

#include "batch/batch_client.h"
#include "screen/canvas.h"
#include "screen/scroll.h"
#include "screen/sheet.h"
#include "view/view_overview.h"

struct tasks {
	struct batch_client batch;
	bool open;
	struct sheet sheet;
	struct scroll scroll;
};

/* Opens a work list. Returns 0, or -1 with err set. */
int tasks_open(struct tasks *tasks, const char *state, const char *id, struct error *err);
void tasks_refresh(struct tasks *tasks);
void tasks_close(struct tasks *tasks);

/* Returns the loop of the task at the cursor, or NULL. */
const char *tasks_loop(const struct tasks *tasks);

void tasks_draw(struct tasks *tasks, struct canvas *canvas, int row, int rows);

#endif
