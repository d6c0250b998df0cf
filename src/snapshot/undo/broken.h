/*
 * Views in which the code does not work, to see which checks notice: in no file
 * (mutant/breakage.h), or in one line (mutant/mutant.h). Both are written as a layer
 * (view_layer.h); neither the project nor a draft is changed. Pinned files (project/pins.h) decide,
 * and are left as they are.
 */
#ifndef SNAPSHOT_UNDO_BROKEN_H
#define SNAPSHOT_UNDO_BROKEN_H

#include "project/pins.h"
#include "snapshot/store/checkpoint_repo.h"
#include "util/text/json.h"

/* Breaks the source code of a tree in an empty folder. Writes to an answer how many files these
 * are, and the path of one. Returns 0, or -1 with err set. */
int broken_write_all(struct node *tree, const struct pins *pins, const char *folder,
		     struct json *json, struct error *err);

/* Which mutant: its place in the list of at most `most`; and the actions on findings. */
struct broken_choice {
	size_t most, index;
	const struct list *actions;
};

/* Finds the mutants of what changed between two trees, and writes the chosen one to a folder, if it
 * exists. The answer has their number, and the mutant. Returns 0, or -1 with err set. */
int broken_write_mutant(struct checkpoint_repo *repo, struct node *base, struct node *now,
			const struct pins *pins, const struct broken_choice *choice,
			const char *folder, struct json *json, struct error *err);

#endif
