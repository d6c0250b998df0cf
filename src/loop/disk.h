/*
 * What a loop takes of the disk, and what is left of it. Both are looked at before each iteration and, every few seconds,
 * while something runs in the fence: what runs is ended then, and the loop pauses, before anybody is harmed.
 */
#ifndef LOOP_DISK_H
#define LOOP_DISK_H

#include "loop/attend.h"

/* What of the two is not kept, in a sentence with what helps; the caller frees. NULL: all is well. */
char *disk_trouble(struct supervisor *sup);

/* When is the next look due, by the steady clock? INT64_MAX: never. */
int64_t disk_due_ms(const struct supervisor *sup);

/* Looks, if that is due, and ends what runs if it must. */
void disk_watch(struct supervisor *sup);

#endif
