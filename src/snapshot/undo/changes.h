/* Finds the paths that differ between two trees. */
#ifndef SNAPSHOT_UNDO_CHANGES_H
#define SNAPSHOT_UNDO_CHANGES_H

#include "snapshot/store/node.h"
#include "util/list.h"

/* A path that differs; a renamed one has both names. */
struct changes_item {
	const struct node *old, *new; /* NULL if it does not exist */
	char *from, *path;
	size_t added, removed; /* lines, once counted */
	uint64_t bytes;        /* of the new content, once counted */
	bool binary;
};

struct changes {
	struct changes_item *items;
	size_t count;
};

/*
 * Finds all differences, sorted by path; with `paths`, only those at or below them. The trees must
 * outlive the result.
 */
void changes_find(const struct node *old, const struct node *new, const struct list *paths,
		  struct changes *ret_changes);
void changes_release(struct changes *changes);

#endif
