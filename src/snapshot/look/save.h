/* Saves a scan of the project as a numbered checkpoint. */
#ifndef SNAPSHOT_LOOK_SAVE_H
#define SNAPSHOT_LOOK_SAVE_H

#include "snapshot/look/look.h"

struct save_options {
	const char *kind; /* start, before, after, within, undo, apply, unapply */
	int64_t iteration;
	int64_t next;      /* the lowest number it may have: earlier ones were given */
	const char *since; /* count changes since this checkpoint; NULL: do not count */
};

/*
 * Finishes the scan and saves it as a checkpoint of its loop. If the latest checkpoint has the same
 * content, returns that one and sets *ret_same. Returns 0, or -1 with err set.
 *
 * save_prepare() does the same, but leaves it to the caller to number the checkpoint
 * (checkpoint_repo_number()).
 */
int save_prepare(struct checkpoint_repo *repo, const struct look_options *options,
		 struct look *look, const struct save_options *save,
		 struct checkpoint_repo_item *ret_checkpoint, bool *ret_same, struct error *err);
int save_checkpoint(struct checkpoint_repo *repo, const struct look_options *options,
		    struct look *look, const struct save_options *save,
		    struct checkpoint_repo_item *ret_checkpoint, bool *ret_same, struct error *err);

#endif
