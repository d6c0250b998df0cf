/*
 * The base of a draft that was applied before, and has changed since.
 *
 * The first apply makes the project differ from the draft's base, as if the user had changed it. A
 * file that is as these crossings left it, without a change of the user in between, is a version
 * that the draft had: it is the base of the next change.
 */
#ifndef SNAPSHOT_LOOK_TREE_APPLIED_H
#define SNAPSHOT_LOOK_TREE_APPLIED_H

#include "snapshot/store/node.h"

/* The project before and after an apply or its undo. */
struct tree_applied {
	struct node before, after;
};

/* All of a draft, the first one first. */
struct tree_applied_list {
	struct tree_applied *items;
	size_t count;
};

/* Makes the base of the next apply. present: the project as it is now. The result borrows names
 * from both trees; the caller releases it. */
void tree_applied_base(const struct node *base, const struct node *present,
		       const struct tree_applied_list *past, struct node *ret_result);

void tree_applied_release(struct tree_applied_list *past);

/* Returns whether two entries are the same, with their modes. Each may be NULL. */
bool tree_applied_same(const struct node *a, const struct node *b);

#endif
