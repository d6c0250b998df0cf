/*
 * What a process in the fence is about to do, found out from outside while it waits.
 *
 * Everything here was written by the process: its memory, its names, its links. It is read in bounded
 * pieces, and nothing is opened but as a place (O_PATH). A process that changes it meanwhile
 * deceives the report, and nobody else.
 */
#ifndef FENCE_WATCH_ATTEMPT_H
#define FENCE_WATCH_ATTEMPT_H

#include "fence/fence_plan.h"
#include "fence/watch/verdict.h"

#include <limits.h>
#include <linux/seccomp.h>

enum { ATTEMPT_MOST = 2 }; /* rename concerns two paths */

/* One thing that the fence refuses. */
struct attempt {
	const char *kind;
	char target[PATH_MAX + 64];
	struct verdict by;
};

/* What is the same for all processes of a fence. */
struct attempt_context {
	const struct fence_plan *plan;
	int root;                   /* of the fence, opened when first needed; -1 */
	uint8_t reached[65536 / 8]; /* bit N: a connection to port N of loopback was no denial */
};

/* Fills in what the fence will refuse of this call. Returns how many; 0: nothing, or it cannot be
 * told. */
size_t attempt_look(struct attempt_context *context, const struct seccomp_notif *call,
		    struct attempt ret_attempts[ATTEMPT_MOST]);

#endif
