/*
 * The only place where a supervisor waits. Each module adds a watch for a descriptor, a time, or
 * both. A round polls all of them, then serves the watches in the order in which they were added.
 */
#ifndef LOOP_SUPERVISE_WAIT_SET_H
#define LOOP_SUPERVISE_WAIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAIT_SET_WATCHES = 32 };

struct wait_set_watch {
	const int *at;                    /* a descriptor to poll; -1 or NULL: none */
	int (*fd)(void *context);         /* the same, if it is polled in some rounds only */
	int64_t (*due_ms)(void *context); /* by the steady clock; INT64_MAX or NULL: never */
	void (*serve)(void *context, bool readable); /* in every round, readable or not */
	void *context;
};

struct wait_set {
	struct wait_set_watch watches[WAIT_SET_WATCHES];
	size_t count;
};

/* Adds a watch. More than WAIT_SET_WATCHES is a bug and aborts. */
void wait_set_add(struct wait_set *set, const struct wait_set_watch *watch);

/* Waits for one round, at most until the given time of the steady clock. */
void wait_set_round(struct wait_set *set, int64_t until_ms);

/* Returns the steady clock: jumps of the wall clock must not stop an agent. */
int64_t wait_set_steady_ms(void);

#endif
