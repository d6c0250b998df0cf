/* The effective policy, as text for people. */
#ifndef CLI_VIEW_POLICY_TEXT_H
#define CLI_VIEW_POLICY_TEXT_H

#include "cli/settings/effective.h"
#include "fence/fence_plan.h"

/* Prints every rule of a plan and its origin on stdout, for a command or for a loop. */
void policy_text_print(const struct effective *effective, const struct fence_plan *plan, bool loop);

/* Whether a loop gets a private git directory here. Repositories that do not support one are
 * reported when the loop starts. */
bool policy_text_private_git(const struct effective *effective, const struct fence_plan *plan);

#endif
