/*
 * Puts a layer over a tree: finds which entries of a view are a draft's own.
 *
 * A view shows the changes of a draft in a project that others may change meanwhile. The result has
 * the view's version of what the draft changed, and the base's version of everything else.
 */
#ifndef SNAPSHOT_UNDO_TREE_LAYER_H
#define SNAPSHOT_UNDO_TREE_LAYER_H

#include "draft/draft_layer.h"
#include "snapshot/store/node.h"

/* Renumbers the groups of hard links of the view. The result borrows names from both trees; the
 * caller releases it. */
void tree_layer(const struct node *base, struct node *view, const struct draft_layer *layer,
		struct node *ret_result);

#endif
