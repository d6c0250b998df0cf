/*
 * Views with broken code, to see which checks notice: all files are broken (mutant/breakage.h), or
 * one line is (mutant/mutant.h). The broken files are written as a layer (view_layer.h); neither
 * the project nor a draft is changed. Pinned files (project/pins.h) stay as they are.
 */
#ifndef SNAPSHOT_UNDO_BROKEN_H
#define SNAPSHOT_UNDO_BROKEN_H

#include "project/pins.h"
#include "snapshot/store/checkpoint_repo.h"
#include "util/text/json.h"

/* Writes broken versions of all source files of a tree to an empty folder. The answer has the
 * number of files, and the path of one. Returns 0, or -1 with err set. */
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
