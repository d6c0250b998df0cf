/* The effective policy, as text for people. */
#ifndef CLI_VIEW_POLICY_TEXT_H
#define CLI_VIEW_POLICY_TEXT_H

#include "fence/fence_plan.h"
#include "settings/effective.h"

/* Prints every rule of a plan and its origin on stdout, for a command or for a loop, and the files
 * that a loop would pin. */
void policy_text_print(const struct effective *effective, const struct fence_plan *plan, bool loop);

/* Returns the word for what a rule permits. */
const char *policy_text_access(enum wire_access access);

/* Returns who set a limit. */
const char *policy_text_limit_origin(const struct config *config, enum fence_limit limit);

/* Returns whether the path is the project's git directory, or in it. */
bool policy_text_is_git(const struct fence_plan *plan, const char *path);

/* Whether a loop gets a private git directory here. Repositories that do not support one are
 * reported when the loop starts. */
bool policy_text_private_git(const struct effective *effective, const struct fence_plan *plan);

#endif
