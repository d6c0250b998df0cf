/*
 * Puts the changes of a draft (draft/draft_layer.h) over the tree that the draft began with.
 *
 * The result is what a view of the draft shows, without what others changed in the project
 * meanwhile: the base's version of everything that the layer does not have, and the base's content
 * of what is empty in the draft only because it was not copied.
 */
#ifndef SNAPSHOT_LOOK_TREE_LAYER_H
#define SNAPSHOT_LOOK_TREE_LAYER_H

#include "draft/draft_layer.h"
#include "snapshot/store/tree_reader.h"

/* layer: a scan of the changes of this draft (struct look_walk, `layer`), whose groups of hard
 * links are renumbered here. Folders that the layer has get no id. Folders of the base are opened
 * by its reader where the layer has one; all others stay closed in the result. The reader may be
 * NULL if all are open. Returns 0, or -1 with err set. The caller releases the result, which owns
 * everything that it holds, in both cases. */
int tree_layer(struct tree_reader *reader, struct node *base, struct node *layer,
	       const struct draft_layer *draft, struct node *ret_result, struct error *err);

#endif
