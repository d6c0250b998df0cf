/* What a loop is about to do, in a few lines, before it does it. */
#ifndef CLI_ANNOUNCE_H
#define CLI_ANNOUNCE_H

#include "cli/apply.h"
#include "cli/choose.h"
#include "cli/goal.h"

/* On stdout. */
void announce_loop(const struct applied *applied, const struct fence_plan *plan,
		   const struct choice *choice, const struct goal *goal);

#endif
