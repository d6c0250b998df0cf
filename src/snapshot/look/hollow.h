/*
 * Files that stay empty in a draft when a checkpoint is restored there: those that the fence hides,
 * and those that the user may not read. A draft that is a copy does not have their content
 * (draft/draft.h), so that no command can move it out of hiding, but its checkpoints do.
 */
#ifndef SNAPSHOT_LOOK_HOLLOW_H
#define SNAPSHOT_LOOK_HOLLOW_H

#include "snapshot/look/look.h"

/* Values of node->hollow. */
enum hollow {
	HOLLOW_NOT,
	HOLLOW_KEPT, /* at its own path: an empty file stands for it */
	HOLLOW_MOVED /* at another path: nothing can stand for it */
};

/* Marks the files of the tree that is to be restored. Returns 0, or -1 with err set. */
int hollow_mark(struct checkpoint_repo *repo, const struct look_options *options,
		struct node *target, struct error *err);

#endif
