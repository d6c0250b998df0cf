/*
 * Restores files that a power cut has emptied.
 *
 * A file that was written shortly before a power cut can be empty afterwards. The work of an
 * iteration that counts is synced, so these are files that an interrupted iteration was changing,
 * or that an older version did not sync. A file that is empty now and was not in the last
 * checkpoint is restored from there.
 */
#ifndef SNAPSHOT_UNDO_REPAIR_H
#define SNAPSHOT_UNDO_REPAIR_H

#include "snapshot/look/look.h"
#include "util/list.h"

/*
 * present: a scan that has just been taken; it is outdated if *ret_paths, which the caller
 * releases, is not empty afterwards. The caller holds the lock. Returns 0, or -1 with err set.
 */
int repair_project(struct checkpoint_repo *repo, const struct look_options *options,
		   struct look *present, struct list *ret_paths, struct error *err);

#endif
