/* The number of entries and bytes in a tree, as a checkpoint tells them. */
#ifndef SNAPSHOT_LOOK_TREE_TOTALS_H
#define SNAPSHOT_LOOK_TREE_TOTALS_H

#include "snapshot/store/tree_reader.h"

struct tree_totals {
	uint64_t files; /* entries other than folders */
	uint64_t bytes; /* of files */
	uint64_t odd;   /* skipped entries and pipes */
};

/* Counts a tree that is open and has the sizes of its files. */
struct tree_totals tree_totals_count(struct node *root);

/*
 * Changes the totals of a base to those of a draft with this base (tree_layer.h). Opens only
 * folders of the base that differ from the draft's. Returns 0, or -1 with err set.
 */
int tree_totals_change(struct tree_reader *reader, struct node *base, struct node *draft,
		       struct tree_totals *totals, struct error *err);

#endif
