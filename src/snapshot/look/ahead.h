/*
 * Stats files ahead of a scan: while the scan walks the cached tree from its beginning, a thread
 * walks it from its end and marks the files that have not changed. They meet somewhere in the
 * middle.
 */
#ifndef SNAPSHOT_LOOK_AHEAD_H
#define SNAPSHOT_LOOK_AHEAD_H

#include "snapshot/store/node.h"

struct ahead;

/* Starts the thread. Returns NULL if it would not pay off; then nothing is marked. */
struct ahead *ahead_start(int project, struct node *known);
void ahead_stop(struct ahead *ahead);

/* Reports whether the file was just stat'ed and matches the cache. */
static inline bool ahead_seen(const struct node *known)
{
	return __atomic_load_n(&known->seen, __ATOMIC_ACQUIRE) != 0;
}

#endif
