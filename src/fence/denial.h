/*
 * Denials, explained: who was refused what, by which rule.
 *
 * The seccomp filter of a fence (src/fence/init/filter_gen.c) asks before calls that the fence may
 * refuse. Whoever made the call waits until it is answered, so every question is answered at once:
 * go on, and meet the walls; or, for calls that the filter forbids, the errno that it would have given.
 * Nothing is enforced by what is found out here.
 */
#ifndef FENCE_DENIAL_H
#define FENCE_DENIAL_H

#include "fence/attempt.h"

enum {
	DENIALS_LISTED = 1000, /* different ones */
	DENIALS_TOLD = 20,     /* one line each; the report has the rest */
};

struct denials {
	struct attempt_context context;
	fence_notice_fn *notice;
	struct fence_denials *list;
	int listener; /* -1: none yet, or over */
	size_t told;  /* the first ones of the list */
};

void denials_init(struct denials *denials, const struct fence_plan *plan, fence_notice_fn *notice,
		  struct fence_denials *list);

/* The listener has come; it is taken over. */
void denials_listen(struct denials *denials, int listener);

/* Answers what is asked. With `recording`, what will be refused is added to the list, and told where
 * that disturbs nobody. */
void denials_serve(struct denials *denials, bool recording);

/* Adds a connection that the outlet has refused to a process (0: not known which). */
void denials_add(struct denials *denials, pid_t pid, const char *target, const char *reason);

/* Nothing is answered any more, and what has not been told is told. */
void denials_end(struct denials *denials);

void denials_release(struct fence_denials *list);

#endif
