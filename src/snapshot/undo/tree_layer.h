/*
 * Puts a layer over a tree: finds which entries of a view come from overlayfs's upper layer.
 *
 * A view shows the upper layer over a project that others may change meanwhile. The result has the
 * view's version of what the upper layer has, and the base's version of everything else.
 */
#ifndef SNAPSHOT_UNDO_TREE_LAYER_H
#define SNAPSHOT_UNDO_TREE_LAYER_H

#include "snapshot/store/node.h"

/* Renumbers the groups of hard links of the view. `upper` is open on the upper layer. The result
 * borrows names from both trees; the caller releases it. */
void tree_layer(const struct node *base, struct node *view, int upper, struct node *ret_result);

#endif
