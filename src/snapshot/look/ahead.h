/*
 * A second pair of eyes for a look: while the walk goes through the known tree from its beginning, a thread goes
 * through it from its end, and marks the files that look as they did. They meet somewhere in the middle.
 */
#ifndef SNAPSHOT_LOOK_AHEAD_H
#define SNAPSHOT_LOOK_AHEAD_H

#include "snapshot/store/node.h"

struct ahead;

/* Begins. Returns NULL where it is not worth it: then nothing is marked. */
struct ahead *ahead_start(int project, struct node *known);
void ahead_stop(struct ahead *ahead);

/* Was it looked at a moment ago, and is as it was known? */
static inline bool ahead_seen(const struct node *known)
{
	return __atomic_load_n(&known->seen, __ATOMIC_ACQUIRE) != 0;
}

#endif
