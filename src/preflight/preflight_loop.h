/*
 * Examines a loop before it starts: git, agent, checks, secrets in reach, disk, fence, limits,
 * other loops, and where its prompts go. Reads files and asks the kernel; never prints, and sends
 * nothing over a network.
 */
#ifndef PREFLIGHT_PREFLIGHT_LOOP_H
#define PREFLIGHT_PREFLIGHT_LOOP_H

#include "fence/fence_plan.h"
#include "preflight/preflight_budget.h"
#include "preflight/preflight_items.h"
#include "settings/loop_request.h"

/* The loop as far as its settings make one. A step that failed has its error instead. */
struct preflight_loop {
	const struct effective *effective;
	const struct loop_request *request;
	const struct fence_plan *plan;     /* or NULL */
	const struct error *agent_error;   /* there is no choice of an agent; or NULL */
	const struct error *goal_error;    /* there is no goal; or NULL */
	const struct error *plan_error;    /* there is no plan; or NULL */
	const struct error *project_error; /* the project cannot be used; or NULL */
	bool probe;                        /* try the fence; a run does so anyway */
};

/* Before each loop, and for the command `preflight`, which has more time. */
extern const struct preflight_budget preflight_loop_quick, preflight_loop_thorough;

/* Adds an item for everything that is examined. The caller releases them. */
void preflight_loop_examine(const struct preflight_loop *loop,
			    const struct preflight_budget *budget, struct preflight_items *items);

#endif
