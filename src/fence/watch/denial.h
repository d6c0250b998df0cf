/*
 * Explains denials: which process was refused what, and by which rule.
 *
 * The fence's seccomp filter (src/fence/init/fence_filter_gen.c) asks before calls that the fence
 * may refuse. The calling process waits, so every question is answered at once: continue, and let
 * the fence decide; or, for calls that the filter forbids, the errno that the plain filter would
 * give. Nothing here enforces anything, except for commands that share the host's namespaces
 * (perform.h). Only renames of folders in a draft wait longer (held.h).
 */
#ifndef FENCE_WATCH_DENIAL_H
#define FENCE_WATCH_DENIAL_H

#include "fence/fence.h"
#include "fence/watch/attempt.h"
#include "fence/watch/held.h"
#include "fence/watch/perform.h"

enum {
	DENIAL_LISTED = 1000,  /* distinct denials */
	DENIAL_ANNOUNCED = 20, /* notices, one line each; the report has the rest */
};

struct denial_log {
	struct attempt_context context;
	struct held held;
	struct perform_context performer; /* of a command that shares the host's namespaces */
	fence_notice_fn *notice;
	struct fence_denials *list;
	int listener;     /* -1 before denial_listen() and after the end */
	size_t announced; /* denials already announced, from the start of the list */
};

void denial_init(struct denial_log *denials, const struct fence_plan *plan, fence_notice_fn *notice,
		 struct fence_denials *list);

/* Takes ownership of the seccomp listener. `control` leads to init. */
void denial_listen(struct denial_log *denials, int listener, int control);

/* Answers pending questions. With `recording`, adds acts that will be refused to the list, and
 * announces them if that cannot disturb the command's output. */
void denial_serve(struct denial_log *denials, bool recording);

/* Init has made a folder of a draft movable: answers its rename. */
void denial_movable(struct denial_log *denials);

/* Adds a connection that the outlet refused to a process (0: unknown). */
void denial_add(struct denial_log *denials, pid_t pid, const char *target, const char *reason);

/* Stops answering, and announces the remaining denials. */
void denial_end(struct denial_log *denials);

#endif
