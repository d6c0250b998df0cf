/*
 * The fence's side of its outlet (util/outlet.h): hands it the listening socket, and finds out which
 * process asked for what the outlet refuses.
 */
#ifndef FENCE_RUN_WAY_OUT_H
#define FENCE_RUN_WAY_OUT_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "fence/watch/denial.h"

struct way_out {
	uint64_t second_ms, spent_us; /* on looking for those who asked */
	uint64_t told;                /* refusals */
};

/* What clients inside are told by their environment. Nothing without an outlet. */
void way_out_environment(const struct fence_spec *spec, struct list *environment);

/* Begins, before the command does. Returns 0, or -1 with err set. */
int way_out_start(const struct fence_plan *plan, struct list *warnings, struct error *err);

/* The socket has come out of the fence; it is taken over. Returns 0, or -1 with err set. */
int way_out_serve(const struct fence_plan *plan, int listener, struct error *err);

/* To wait for; -1: nothing. */
int way_out_fd(const struct fence_plan *plan);

/* Takes what the outlet has to say. first: the process below which everything inside is; 0: nobody is looked
 * for. Returns how many refusals there were; more may be left. */
size_t way_out_take(struct way_out *way_out, const struct fence_plan *plan, pid_t first,
		    struct denial_log *denials, struct list *warnings);

/* Takes what is left, and ends it. */
void way_out_stop(struct way_out *way_out, const struct fence_plan *plan,
		  struct denial_log *denials, struct fence_result *result);

#endif
