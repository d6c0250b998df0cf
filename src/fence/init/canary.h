/*
 * Canaries: acts that must fail, tried on every run.
 *
 * A fence that silently does not work is worse than none. Before the command starts, init inspects
 * what the mechanism set up, and the process that will become the command tries forbidden acts
 * behind all walls. If one succeeds, the run ends before the command starts.
 */
#ifndef FENCE_INIT_CANARY_H
#define FENCE_INIT_CANARY_H

#include "fence/init/order.h"

struct canary_count {
	unsigned int held;
	unsigned int total;
};

/* Inspects what the mechanism set up, in init, before it adds its own walls. Returns 0, or -1 with
 * err set. */
int canary_outside(const struct order *order, struct canary_count *count, struct error *err);

/* Tries forbidden acts in the command's own process, behind all walls. `landlock`: Landlock is in
 * force. Returns 0, or -1 with err set. */
int canary_inside(const struct order *order, bool landlock, struct canary_count *count,
		  struct error *err);

#endif
