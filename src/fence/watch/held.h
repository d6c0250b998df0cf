/*
 * Renames of folders in a draft that wait.
 *
 * Overlayfs refuses to rename a folder that comes from the project (EXDEV). The fence's filter asks
 * before every rename, so the caller already waits. Until the answer, init makes the folder movable
 * (fence/init/movable.h); then the call continues, and the kernel renames by the caller's own
 * arguments and rights. Nothing here renames: a caller that changes its arguments in the meantime,
 * or names a path that it may not rename, gains nothing.
 *
 * One folder is made movable at a time. Other questions are answered meanwhile.
 */
#ifndef FENCE_WATCH_HELD_H
#define FENCE_WATCH_HELD_H

#include "fence/watch/attempt.h"

enum { HELD_MOST = 1024 }; /* further renames do not wait, and may fail */

struct held {
	int control;  /* to init */
	int listener; /* where the callers wait */
	struct held_rename {
		uint64_t id;
		char *folders[ATTEMPT_MOST]; /* to be made movable; relative to the project */
		size_t count, done;
	} * items; /* in the order of their questions; init works for the first */
	size_t count;
};

/* Holds a call if it renames a folder of a draft. Returns true if it is to be answered by
 * held_continue(). */
bool held_take(struct held *held, struct attempt_context *context,
	       const struct seccomp_notif *call);

/* Init is done with a folder: lets its rename continue, and starts the next. */
void held_continue(struct held *held);

void held_release(struct held *held);

#endif
