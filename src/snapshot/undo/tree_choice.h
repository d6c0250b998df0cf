/*
 * Leaves some changes between two trees out: makes the tree that has the new version of every path,
 * but the old version of those that are left out.
 *
 * A folder that only the new tree has is not made for paths that are left out. One that only the
 * old tree has stays if it holds such paths, also in the place of a file.
 */
#ifndef SNAPSHOT_UNDO_TREE_CHOICE_H
#define SNAPSHOT_UNDO_TREE_CHOICE_H

#include "snapshot/store/node.h"
#include "util/list.h"

/* The result borrows names from both trees; the caller releases it. */
void tree_choice(const struct node *old, const struct node *new, const struct list *left_out,
		 struct node *ret_result);

#endif
