/*
 * The disk usage of a folder and everything in it, at any depth: a fenced command chooses it.
 * Folders may be missed while something moves them, which does not happen between runs.
 */
#ifndef UTIL_FILE_DISK_USAGE_H
#define UTIL_FILE_DISK_USAGE_H

#include <stdint.h>

/*
 * Returns the usage in bytes, or 0 if there is no such folder. without: the name of an entry of the
 * folder that is left out, or NULL.
 */
uint64_t disk_usage_bytes(const char *path, const char *without);

#endif
