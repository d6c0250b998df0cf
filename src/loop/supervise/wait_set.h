/*
 * The one place to wait in. Whoever has something to wait for adds a watch: a descriptor, a time, or
 * both. A round polls everything at once, then serves the watches in the order in which they were added.
 */
#ifndef LOOP_SUPERVISE_WAIT_SET_H
#define LOOP_SUPERVISE_WAIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAIT_SET_WATCHES = 32 };

struct wait_set_watch {
	int (*fd)(void *context);         /* to poll in this round; -1 or no function: none */
	int64_t (*due_ms)(void *context); /* by the steady clock; INT64_MAX or no function: never */
	void (*serve)(void *context, bool readable); /* in every round, readable or not */
	void *context;
};

struct wait_set {
	struct wait_set_watch watches[WAIT_SET_WATCHES];
	size_t count;
};

/* There may be WAIT_SET_WATCHES of them: one more is a mistake of the program and ends it. */
void wait_set_add(struct wait_set *set, const struct wait_set_watch *watch);

/* One round: waits for something to happen, at most until the given time of the steady clock. */
void wait_set_round(struct wait_set *set, int64_t until_ms);

/* Jumps of the wall clock do not end an agent. */
int64_t wait_set_steady_ms(void);

#endif
