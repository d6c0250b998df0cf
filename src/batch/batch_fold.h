/* Adds events to the state of a batch, which is their sum. */
#ifndef BATCH_BATCH_FOLD_H
#define BATCH_BATCH_FOLD_H

#include "batch/batch_state.h"
#include "journal/journal.h"

/* Adds an event. Returns 0, or -1 with err set if it is malformed or illegal. */
int batch_fold(struct batch_state *state, const struct journal_event *event, struct error *err);

/* Adds the events after the mark, and moves it. Returns 0, or -1 with err set. */
int batch_fold_follow(struct journal *store, struct journal_mark *mark, struct batch_state *state,
		      struct error *err);

#endif
