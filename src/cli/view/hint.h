/* What to do about a command that the fence does not have. */
#ifndef CLI_VIEW_HINT_H
#define CLI_VIEW_HINT_H

#include "fence/fence_plan.h"

/* Where the host has a program that is not found in the fence, and in *ret_read what --read would have to name; the
 * caller frees both. NULL: the host does not have it, or it is found. */
char *hint_hidden(const struct fence_plan *plan, const char *name, char **ret_read);

#endif
