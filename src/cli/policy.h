/* What holds for a command in a fence, for people. */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

#include "cli/apply.h"

/* On stdout: every rule of a plan with where it comes from. */
void policy_print(const struct applied *applied, const struct fence_plan *plan);

#endif
