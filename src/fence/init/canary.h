/*
 * Canaries: acts that must fail, tried on every run.
 *
 * A fence that silently is not there is worse than none. Before the command starts, init looks at
 * what the mechanism made, and the process that will become the command tries, from behind all
 * walls, what must not work. One that gets through ends the run before it began.
 */
#ifndef FENCE_INIT_CANARY_H
#define FENCE_INIT_CANARY_H

#include "fence/init/order.h"

struct canary_count {
	unsigned int held;
	unsigned int total;
};

/* From init, before the walls that it puts up itself: what did the mechanism make? */
int canary_outside(const struct order *order, struct canary_count *count, struct error *err);

/* From the command's own process, behind all walls. `landlock`: that wall is up. */
int canary_inside(const struct order *order, bool landlock, struct canary_count *count,
		  struct error *err);

#endif
