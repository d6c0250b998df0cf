/* Checkpoints: a look at the project that gets a number. */
#ifndef SNAPSHOT_LOOK_SAVE_H
#define SNAPSHOT_LOOK_SAVE_H

#include "snapshot/look/look.h"

struct save_options {
	const char *kind; /* start, before, after, within, undo */
	int64_t iteration;
	const char
		*since; /* a number: changes are counted from this checkpoint; NULL: they are not */
};

/* Keeps a look that was taken as a checkpoint of its loop; one that shows what the latest checkpoint holds is
 * that checkpoint (*ret_same). Finishes the look. Returns 0, or -1 with err set. */
int save_checkpoint(struct checkpoint_repo *repo, const struct look_options *options,
		    struct look *look, const struct save_options *save,
		    struct checkpoint_repo_item *ret_checkpoint, bool *ret_same, struct error *err);

#endif
