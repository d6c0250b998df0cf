/* What holds for a command in a fence, for people. */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

#include "config/config.h"
#include "fence/fence.h"

/* On stdout: every rule of a plan with where it comes from. */
void policy_print(const struct config *config, const struct fence_spec *spec,
		  const struct fence_plan *plan);

#endif
