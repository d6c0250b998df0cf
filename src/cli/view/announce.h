/* A summary of what a loop is about to do, printed before it starts. */
#ifndef CLI_VIEW_ANNOUNCE_H
#define CLI_VIEW_ANNOUNCE_H

#include "fence/fence_plan.h"
#include "settings/choice.h"
#include "settings/effective.h"
#include "settings/goal.h"

/* Prints it on stdout: agent, fence, network, limits, goal, and the estimate unless it is NULL. */
void announce_loop(const struct effective *effective, const struct fence_plan *plan,
		   const struct choice *choice, const struct goal *goal, const json_t *estimate);

#endif
