/* Small files that tell whoever comes after a crash what is under way, or what holds. */
#ifndef SNAPSHOT_BASE_NOTE_H
#define SNAPSHOT_BASE_NOTE_H

#include <stddef.h>

/* Writes one into a folder, instead of what is there: it appears as a whole, and is on the disk when this returns. The draft
 * is in `drafts`, on the same file system; nobody else may be writing it. Returns 0, or -1 with errno. */
int note_write(int drafts, const char *draft, int folder, const char *name, const void *bytes,
	       size_t size);

#endif
