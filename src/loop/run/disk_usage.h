/*
 * What a folder takes on the disk, with all that is below it: at whatever depth, since those who fill it choose that. While they move
 * folders about, what is above these may be missed; nobody does between runs.
 */
#ifndef LOOP_RUN_DISK_USAGE_H
#define LOOP_RUN_DISK_USAGE_H

#include <stdint.h>

/* In bytes; 0 also where there is no such folder. */
uint64_t disk_usage_bytes(const char *path);

#endif
