/*
 * Processes that do a part of the supervisor's work: ringfence-snapshot, and those that mount a
 * view. One that dies, or is killed, is started again a few times, each time with an event.
 */
#ifndef LOOP_RUN_RETRY_H
#define LOOP_RUN_RETRY_H

#include "loop/supervise/supervisor.h"
#include "util/error.h"

/* The task of a process that mounts a view. */
#define RETRY_VIEW "view"

/*
 * After a failure: if the process died (why->status is ERROR_DIED), records that the task is tried
 * again, unless it has died too often. Returns 1 if it is to be tried again, 0 if not, or -1 with
 * err set. *tries counts, from 0.
 */
int retry_after(struct supervisor *sup, const char *task, const struct error *why, int *tries,
		struct error *err);

#endif
