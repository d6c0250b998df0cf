/* What a loop is about to do, in a few lines, before it does it. */
#ifndef CLI_VIEW_ANNOUNCE_H
#define CLI_VIEW_ANNOUNCE_H

#include "cli/settings/choice.h"
#include "cli/settings/effective.h"
#include "cli/settings/goal.h"
#include "fence/fence_plan.h"

/* On stdout. */
void announce_loop(const struct effective *effective, const struct fence_plan *plan,
		   const struct choice *choice, const struct goal *goal);

#endif
