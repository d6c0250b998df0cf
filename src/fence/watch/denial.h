/*
 * Denials, explained: who was refused what, by which rule.
 *
 * The seccomp filter of a fence (src/fence/init/fence_filter_gen.c) asks before calls that the fence may
 * refuse. Whoever made the call waits until it is answered, so every question is answered at once:
 * go on, and meet the walls; or, for calls that the filter forbids, the errno that it would have given.
 * Nothing is enforced by what is found out here.
 */
#ifndef FENCE_WATCH_DENIAL_H
#define FENCE_WATCH_DENIAL_H

#include "fence/fence.h"
#include "fence/watch/attempt.h"

enum {
	DENIAL_LISTED = 1000, /* different ones */
	DENIAL_TOLD = 20,     /* one line each; the report has the rest */
};

struct denial_log {
	struct attempt_context context;
	fence_notice_fn *notice;
	struct fence_denials *list;
	int listener; /* -1: none yet, or over */
	size_t told;  /* the first ones of the list */
};

void denial_init(struct denial_log *denials, const struct fence_plan *plan, fence_notice_fn *notice,
		 struct fence_denials *list);

/* The listener has come; it is taken over. */
void denial_listen(struct denial_log *denials, int listener);

/* Answers what is asked. With `recording`, what will be refused is added to the list, and told where
 * that disturbs nobody. */
void denial_serve(struct denial_log *denials, bool recording);

/* Adds a connection that the outlet has refused to a process (0: not known which). */
void denial_add(struct denial_log *denials, pid_t pid, const char *target, const char *reason);

/* Nothing is answered any more, and what has not been told is told. */
void denial_end(struct denial_log *denials);

#endif
