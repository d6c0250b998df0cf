/*
 * A row of an overview: what is worth knowing of a loop or a batch among many.
 *
 * Objectives, reasons and what a loop does now are untrusted text, and not escaped.
 */
#ifndef VIEW_VIEW_ROW_H
#define VIEW_VIEW_ROW_H

#include "batch/batch_client.h"
#include "loop/client.h"
#include "loop/state/loop_stamp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIEW_ROW_TEXT = 300 }; /* bytes of an objective or a reason */

struct view_row {
	bool batch; /* a work list; else a loop */
	char *id;
	char *name;    /* of a loop, or NULL */
	char *project; /* the user's, also of a loop with its own work tree; or NULL if unknown */
	char *of;      /* the batch that a loop runs for, or NULL */
	char *title;   /* the first line of the objective; "12 of 40 tasks landed" of a batch */
	char *status;  /* client_status(), batch_client_status() */
	int64_t created_ms, changed_ms; /* changed: when its present step began */
	uint32_t iteration, iterations; /* of a batch: tasks that landed, and all */
	int64_t cost_nusd, most_nusd;   /* most: its limit, or 0 */
	int64_t estimated_nusd;
	int64_t elapsed_ms; /* without pauses; goes on while `ticks`, see view_row_elapsed_ms() */
	bool ticks;
	bool ended;  /* it has, and nothing is to be done */
	char *now;   /* what it does, or why it rests; or NULL */
	char *needs; /* why it needs a person, or NULL */

	/* For the refresh. */
	bool absent;              /* a folder without a loop; such rows are not shown */
	bool unread;              /* only its id is known yet */
	bool stale;               /* it has changed since it was read */
	struct client_loop *loop; /* of one that has not ended */
	struct batch_client *client;
	struct loop_stamp stamp;
	struct loop_stamp_file log, ledger;
	int64_t read_ms; /* when elapsed_ms was true */
};

/* Fills a row from its loop or batch, which was just read. */
void view_row_from_loop(struct view_row *row);
void view_row_from_batch(struct view_row *row);

/* Reads again what a running loop does, which its journal does not tell, if its logs have changed.
 * Returns whether they have. */
bool view_row_look(struct view_row *row);

/* Returns the row of a loop that has ended as a line of the index, which the caller frees; fills a
 * row from one. Returns 0, or -1 for a malformed line. */
char *view_row_line(const struct view_row *row);
int view_row_from_line(struct view_row *row, const char *line);

/* Returns how long a loop has worked by now. */
int64_t view_row_elapsed_ms(const struct view_row *row, int64_t now_ms);

void view_row_free(struct view_row *row);

#endif
