/* Which paths differ between two trees, and how. */
#ifndef SNAPSHOT_UNDO_CHANGES_H
#define SNAPSHOT_UNDO_CHANGES_H

#include "snapshot/store/node.h"
#include "util/list.h"

/* One path that is not the same; one that moved has both names. */
struct changes_item {
	const struct node *old, *new; /* NULL: not there */
	char *from, *path;
	size_t added, removed; /* lines, when they were counted */
	bool binary;
};

struct changes {
	struct changes_item *items;
	size_t count;
};

/* All of them, by path; with paths, only these and what is below them. The trees must outlive them. */
void changes_find(const struct node *old, const struct node *new, const struct list *paths,
		  struct changes *ret_changes);
void changes_release(struct changes *changes);

#endif
