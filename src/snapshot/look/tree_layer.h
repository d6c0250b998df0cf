/*
 * Puts the upper layer of a draft (draft/draft.h) over the tree that the draft began with.
 *
 * The result is what a view of the draft shows, without what others changed in the project
 * meanwhile: the base's version of everything that the layer does not have.
 */
#ifndef SNAPSHOT_LOOK_TREE_LAYER_H
#define SNAPSHOT_LOOK_TREE_LAYER_H

#include "snapshot/store/node.h"

/* layer: a scan of the upper layer (struct look_walk, `layer`), whose groups of hard links are
 * renumbered here. Folders that the layer has get no id. The caller releases the result, which owns
 * everything that it holds. */
void tree_layer(const struct node *base, struct node *layer, struct node *ret_result);

#endif
