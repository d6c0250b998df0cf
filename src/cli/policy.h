/* What holds for a command in a fence, for people. */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

#include "cli/apply.h"

/* On stdout: every rule of a plan with where it comes from, as it holds for a command or for a loop. */
void policy_print(const struct applied *applied, const struct fence_plan *plan, bool loop);

/* Does a loop get a git directory of its own here? If the repository is one for which that cannot be done, it is said when the
 * loop begins. */
bool policy_private_git(const struct applied *applied, const struct fence_plan *plan);

#endif
