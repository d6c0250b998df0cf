/*
 * The folder of a batch: STATE/batches/ID/.
 *
 *	journal.db		every decision (journal/journal.h)
 *	state.json		the current state, for people and jq; replaced atomically
 *	lock, kept, control	as for a loop (loop/state/loop_folder.h)
 *	supervisor.log, trouble.txt	as for a loop (loop/state/loop_report.h)
 */
#ifndef BATCH_BATCH_FOLDER_H
#define BATCH_BATCH_FOLDER_H

#include "util/error.h"

#include <stdbool.h>

/* Returns STATE/batches, which is created if needed, or NULL with err set. The caller frees it. */
char *batch_folder_batches(const char *state, struct error *err);

/* Is this the folder of a batch, and not of a loop? */
bool batch_folder_is(const char *folder);

/* Returns the STATE that contains the folder of a batch. The caller frees it. */
char *batch_folder_state(const char *folder);

#endif
