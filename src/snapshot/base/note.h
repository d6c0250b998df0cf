/* Small state files, which tell the next process after a crash what was in progress. */
#ifndef SNAPSHOT_BASE_NOTE_H
#define SNAPSHOT_BASE_NOTE_H

#include <stddef.h>

/*
 * Atomically replaces a file in a folder; it is on disk when this returns. The temporary file must
 * be on the same file system, and nobody else may be writing it. Returns 0, or -1 with errno set.
 */
int note_write(int temporary_folder, const char *temporary_name, int folder, const char *name,
	       const void *bytes, size_t size);

#endif
