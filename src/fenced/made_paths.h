/*
 * Paths of the project that are made for a run, because a fence can only show what exists: empty
 * files and folders. Those that are still empty after the run are removed again.
 */
#ifndef FENCED_MADE_PATHS_H
#define FENCED_MADE_PATHS_H

#include "fence/fence.h"
#include "util/error.h"
#include "util/list.h"

/* Makes the missing paths among these, which are in the project. No symlink is followed. *made
 * lists what was made, also after a failure. Returns 0, or -1 with err set. */
int made_paths_make(const char *project, const struct fence_paths *paths, struct list *made,
		    struct error *err);

/* Removes those that are empty. */
void made_paths_drop(const char *project, const struct list *made);

#endif
