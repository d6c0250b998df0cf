/* A summary of what a loop is about to do, printed before it starts. */
#ifndef CLI_VIEW_ANNOUNCE_H
#define CLI_VIEW_ANNOUNCE_H

#include "cli/settings/choice.h"
#include "cli/settings/effective.h"
#include "cli/settings/goal.h"
#include "fence/fence_plan.h"

/* Prints it on stdout: agent, fence, network, limits and goal. */
void announce_loop(const struct effective *effective, const struct fence_plan *plan,
		   const struct choice *choice, const struct goal *goal);

#endif
