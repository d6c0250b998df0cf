/*
 * The disk usage of a loop and the free space on its disks. Both are checked before each iteration
 * and every few seconds during a run. If a limit is exceeded, the run is stopped and the loop
 * pauses.
 */
#ifndef LOOP_RUN_DISK_H
#define LOOP_RUN_DISK_H

#include "loop/supervise/supervisor.h"

/* Returns which limit is exceeded and what to do, or NULL. The caller frees it. */
char *disk_trouble(struct supervisor *sup);

/* Makes the supervisor check periodically during a run, and stop it if needed. */
void disk_watch(struct supervisor *sup);

#endif
