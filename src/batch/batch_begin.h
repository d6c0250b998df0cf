/* Begins and continues the loops of a batch. */
#ifndef BATCH_BATCH_BEGIN_H
#define BATCH_BATCH_BEGIN_H

#include "batch/batch_run.h"
#include "batch/batch_schedule.h"

/* Begins a loop of a task, as the schedule wants it. Returns 0, or -1 with err set. */
int batch_begin_loop(struct batch_run *run, const struct batch_action *action, struct error *err);

/* Continues the loop of a task that is held, if a person wants it. It may cost what is there now.
 * Returns 0, or -1 with err set. */
int batch_begin_unhold(struct batch_run *run, size_t task, struct error *err);

/* Takes over from an earlier supervisor: finds the loop of each task that has begun, or starts it
 * if that was killed before. Returns 0, or -1 with err set. */
int batch_begin_take_over(struct batch_run *run, struct error *err);

#endif
