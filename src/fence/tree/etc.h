/*
 * The fence's /etc: selected public files of the host, and a passwd and group file that name only
 * the user, root and nobody.
 *
 * It is cached under STATE/etc/, named by a hash of its sources, so that a start needs one mount
 * instead of about forty. When the host's files change, the next start makes a new copy.
 */
#ifndef FENCE_TREE_ETC_H
#define FENCE_TREE_ETC_H

#include "fence/fence_plan.h"

/* Makes the copy unless it is cached. The caller frees *ret_path. Returns 0, or -1 with err set. */
int etc_prepare(const struct fence_plan *plan, char **ret_path, struct error *err);

#endif
