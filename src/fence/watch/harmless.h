/* Denials that are not announced: tools that try something and go on without it. */
#ifndef FENCE_WATCH_HARMLESS_H
#define FENCE_WATCH_HARMLESS_H

#include "fence/fence_result.h"

/* Returns the reason why a denial is harmless, or NULL. Protected files and secrets are not in its
 * table, except for the lock of git's index when git only shows something. */
const char *harmless_why(const struct fence_denial *denial);

#endif
