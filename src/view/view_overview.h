/*
 * All loops and batches, a row each. Made for many and for looking often: loops that have ended
 * come from an index (loop/state/loop_index.h, `.overview`), and a refresh reads only what has
 * changed since the last one. Rows are in the order of creation, oldest first.
 */
#ifndef VIEW_VIEW_OVERVIEW_H
#define VIEW_VIEW_OVERVIEW_H

#include "view/view_row.h"

struct view_overview {
	char *state;
	struct view_row **rows; /* that can be shown */
	size_t count;
	size_t unread;    /* loops that a refresh left out; the next one reads them */
	uint64_t version; /* grows with every change of a row */

	struct view_row **loops, **batches; /* all, by id */
	size_t loop_count, batch_count;
	struct loop_stamp_file folder, reopened, batch_folder; /* as they were last listed */
	bool unsure;                                           /* they may have changed unseen */
};

/* Begins an overview of a state folder; nothing is read yet. */
void view_overview_open(struct view_overview *overview, const char *state);
void view_overview_close(struct view_overview *overview);

/*
 * Reads what has changed, and at most this many loops that no index knows, the newest first.
 * Returns 0, or -1 with err set if the folder cannot be read.
 */
int view_overview_refresh(struct view_overview *overview, size_t most, struct error *err);

/* Returns the row with this id, or NULL. It is valid until the next refresh. */
const struct view_row *view_overview_find(const struct view_overview *overview, const char *id);

#endif
