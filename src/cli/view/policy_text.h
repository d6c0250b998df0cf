/* What holds for a command in a fence, for people. */
#ifndef CLI_VIEW_POLICY_TEXT_H
#define CLI_VIEW_POLICY_TEXT_H

#include "cli/settings/effective.h"
#include "fence/fence_plan.h"

/* On stdout: every rule of a plan with where it comes from, as it holds for a command or for a loop. */
void policy_text_print(const struct effective *effective, const struct fence_plan *plan, bool loop);

/* Does a loop get a git directory of its own here? If the repository is one for which that cannot be done, it is said when the
 * loop begins. */
bool policy_text_private_git(const struct effective *effective, const struct fence_plan *plan);

#endif
