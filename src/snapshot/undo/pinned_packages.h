/*
 * Folders of packages (project/packages.h) in a view of the checks. Git ignores them, so no
 * checkpoint has their content; but a draft knows what the agent changed in them, and the project
 * still has what was there before.
 */
#ifndef SNAPSHOT_UNDO_PINNED_PACKAGES_H
#define SNAPSHOT_UNDO_PINNED_PACKAGES_H

#include "project/pins.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/changes.h"

struct pinned_packages {
	struct tree_reader *reader; /* of the base */
	struct node *base;
	const struct changes *changes; /* since the base */
	const struct pins *pins;
	const char *project;
	const char *draft; /* NULL: the agent works in the project, and nothing is known */
	int folder;        /* of the layer that hides the agent's changes */
};

/* Hides what the agent changed in folders that were there before the loop, by a layer of
 * overlayfs. The cost follows the change. Adds each folder to *ret_folders in which more changed
 * than caches. Returns 0, or -1 with err set, also if the agent closed a folder: nobody knows then
 * what has to be hidden. */
int pinned_packages_write(const struct pinned_packages *at, struct list *ret_folders,
			  struct error *err);

/* Reports whether a path is in a folder that was there before the loop, and that the agent does not
 * change by a manifest; or is the folder itself. */
bool pinned_packages_has(const struct pinned_packages *at, const char *path);

/* Reports whether such a folder is below this one in the project. */
bool pinned_packages_inside(const struct pinned_packages *at, const char *folder);

#endif
