/*
 * The fence's /etc: chosen, public files of the host and the names of nobody but the user.
 *
 * It is copied once and kept under STATE/etc/, named by a stamp over what it was made from, so that
 * a start costs one mount instead of some forty. When the host's files change, the next start makes
 * another one.
 */
#ifndef FENCE_TREE_ETC_H
#define FENCE_TREE_ETC_H

#include "fence/fence_plan.h"

/* Makes sure that it is there. *ret_path is for the caller to free. Returns 0, or -1 with err set.
 */
int etc_prepare(const struct fence_plan *plan, char **ret_path, struct error *err);

#endif
