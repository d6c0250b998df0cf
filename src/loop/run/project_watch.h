/*
 * Notices changes to the project of a loop that works on a draft, so that an iteration need not
 * read a project that nobody has changed.
 *
 * The first run in the fence scans the project: it makes an index (fence/fence_index.h) and puts a
 * watch on each folder. While no event arrives, later runs use the index, and the user's edits need
 * not be looked for again. After an event, or when another folder has the project's path, the next
 * run begins again.
 *
 * If the project cannot be watched, or has too many folders, each run scans it. A program that
 * changes a file which it has mapped into memory causes no event.
 */
#ifndef LOOP_RUN_PROJECT_WATCH_H
#define LOOP_RUN_PROJECT_WATCH_H

#include "loop/run/runner.h"
#include "loop/supervise/supervisor.h"

/* Prepares the watch for a run, whose runner may fill the index. */
void project_watch_begin(struct supervisor *sup);

/* Takes over the index of a runner that made one. */
void project_watch_end(struct supervisor *sup, const struct runner_result *result);

/* Reports whether the project may have changed since the last look for the user's edits. Call
 * project_watch_looked() if the look that follows succeeds. */
bool project_watch_has_changed(struct supervisor *sup);
void project_watch_looked(struct supervisor *sup);

#endif
