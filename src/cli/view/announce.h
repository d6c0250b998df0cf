/* A summary of what a loop is about to do, printed before it starts. */
#ifndef CLI_VIEW_ANNOUNCE_H
#define CLI_VIEW_ANNOUNCE_H

#include "fence/fence_plan.h"
#include "settings/loop_request.h"

/* Prints it on stdout: agent, reviewer, fence, network, limits, goal and estimate. */
void announce_loop(const struct loop_request *request, const struct fence_plan *plan);

/* Returns how the checks themselves are tried, or NULL. The caller frees it. */
char *announce_trials(const struct config *config);

#endif
