/*
 * The fence's side of its outlet (util/outlet.h): passes it the listening socket, and finds out
 * which process made a refused request.
 */
#ifndef FENCE_RUN_WAY_OUT_H
#define FENCE_RUN_WAY_OUT_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "fence/watch/denial.h"

struct way_out {
	uint64_t second_ms, spent_us; /* CPU time spent on finding clients in the current second */
	uint64_t received;            /* refusals */
};

/* Adds the environment variables that point clients inside at the outlet; none without an
 * outlet. */
void way_out_environment(const struct fence_plan *plan, struct list *environment);

/* Starts the outlet, before the command. Returns 0, or -1 with err set. */
int way_out_start(const struct fence_plan *plan, struct list *warnings, struct error *err);

/* Passes the outlet the listening socket from inside, giving up ownership. Returns 0, or -1 with
 * err set. */
int way_out_serve(const struct fence_plan *plan, int listener, struct error *err);

/* Returns the descriptor to poll, or -1. */
int way_out_fd(const struct fence_plan *plan);

/* Receives a batch of events from the outlet. `first` is the ancestor of all processes inside, used
 * to find clients; 0: do not search. Returns the number of refusals; more may be pending. */
size_t way_out_receive(struct way_out *way_out, const struct fence_plan *plan, pid_t first,
		       struct denial_log *denials, struct list *warnings);

/* Receives the remaining events and stops the outlet. */
void way_out_stop(struct way_out *way_out, const struct fence_plan *plan,
		  struct denial_log *denials, struct fence_result *result);

#endif
