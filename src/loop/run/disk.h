/*
 * What a loop takes of the disk, and what is left of it. Both are looked at before each iteration and, every few seconds,
 * while something runs in the fence: what runs is ended then, and the loop pauses, before anybody is harmed.
 */
#ifndef LOOP_RUN_DISK_H
#define LOOP_RUN_DISK_H

#include "loop/supervise/supervisor.h"

/* What of the two is not kept, in a sentence with what helps; the caller frees. NULL: all is well. */
char *disk_trouble(struct supervisor *sup);

/* Has the supervisor look every so often while something runs, and end it if it must. */
void disk_watch(struct supervisor *sup);

#endif
