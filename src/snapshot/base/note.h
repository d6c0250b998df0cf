/*
 * Small state files that tell a later process, after a crash, which operation was in progress or
 * what holds.
 */
#ifndef SNAPSHOT_BASE_NOTE_H
#define SNAPSHOT_BASE_NOTE_H

#include <stddef.h>

/*
 * Atomically replaces a file in a folder; it is on disk when this returns. The temporary file
 * `draft` is written in `drafts`, on the same file system; nobody else may be writing it. Returns
 * 0, or -1 with errno set.
 */
int note_write(int drafts, const char *draft, int folder, const char *name, const void *bytes,
	       size_t size);

#endif
