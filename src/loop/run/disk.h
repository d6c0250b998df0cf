/*
 * The disk usage of a loop and the free space on its disks. Both are checked before each iteration
 * and every few seconds during a run. If a limit is exceeded, the run is stopped and the loop
 * pauses.
 *
 * The files of ended iterations and the names of checkpoints are counted once, when the supervisor
 * starts, and then added to, so that a check costs the same after many iterations. Before a limit
 * counts as exceeded, everything is counted again.
 */
#ifndef LOOP_RUN_DISK_H
#define LOOP_RUN_DISK_H

#include "loop/supervise/supervisor.h"

/* Returns which limit is exceeded and what to do, or NULL. The caller frees it. */
char *disk_trouble(struct supervisor *sup);

/* Makes the supervisor check periodically during a run, and stop it if needed. */
void disk_watch(struct supervisor *sup);

#endif
