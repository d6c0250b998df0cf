/*
 * A folder of files that a view shows in place of those below: a layer of overlayfs. In a copy, the
 * files are moved into place instead (draft/tree_pins.h).
 */
#ifndef SNAPSHOT_UNDO_VIEW_LAYER_H
#define SNAPSHOT_UNDO_VIEW_LAYER_H

#include "snapshot/store/node.h"
#include "util/error.h"

struct view_layer {
	int folder;
	struct node *modes; /* folders get their modes from this tree */
};

/* Returns the folder of a path in the layer, which is made if it does not exist, or -1 with err
 * set. The caller closes it. */
int view_layer_folder(const struct view_layer *layer, const char *path, struct error *err);

/* Creates a file in a folder. Returns its descriptor, or -1 with err set. */
int view_layer_create(int folder, const char *name, struct error *err);

/* Creates a file. Returns 0, or -1 with err set. */
int view_layer_write(const struct view_layer *layer, const char *path, const char *bytes,
		     size_t size, mode_t mode, struct error *err);

#endif
