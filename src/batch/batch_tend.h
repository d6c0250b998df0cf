/* Looks after the loops of a batch: records what has become of each, and passes requests on. */
#ifndef BATCH_BATCH_TEND_H
#define BATCH_BATCH_TEND_H

#include "batch/batch_run.h"

/* Wakes the supervisor when a loop changes, and now and then while one runs. */
void batch_tend_watch(struct batch_run *run);

/* Reads the loops that have changed, and records what has become of their tasks. Returns 0, or -1
 * with err set. */
int batch_tend_look(struct batch_run *run, struct error *err);

/* Passes a request on to every loop once more, also to those that wait for a person. */
void batch_tend_ask_again(struct batch_run *run);

#endif
