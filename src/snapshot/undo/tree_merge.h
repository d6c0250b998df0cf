/*
 * Merges the changes between two trees into a third one: the changes that a draft made to its base
 * into the project as it is now.
 *
 * A path that only one side changed gets that side's version. Text files that both sides changed
 * are merged by lines. Everything else that both changed is a conflict. It is named, and if the
 * sides have names, text files get the marks that git merge makes.
 */
#ifndef SNAPSHOT_UNDO_TREE_MERGE_H
#define SNAPSHOT_UNDO_TREE_MERGE_H

#include "snapshot/store/checkpoint_repo.h"
#include "snapshot/store/pack.h"
#include "util/list.h"

struct tree_merge {
	const struct node *base, *present; /* their contents are in the repository */
	struct node *draft;                /* the same; its groups are renumbered */
	const struct list *paths;          /* take only changes at or below these; empty: all */
	/* Names of the present and of the draft, to mark conflicts in text files with; or NULL: a
	 * file with a conflict stays as it is. */
	const char *ours, *theirs;

	struct node result;      /* borrows names from the trees above */
	struct list conflicts;   /* a sentence for each */
	struct list conflicting; /* their paths, in this order */
	struct list joined;      /* files that were merged by lines */
};

/* Merges, and adds new contents to the pack. Returns 0, or -1 with err set. Conflicts are not an
 * error; the result then has the present version, or marks. The caller releases it in all cases. */
int tree_merge(struct tree_merge *merge, struct checkpoint_repo *repo, struct pack *pack,
	       struct error *err);
void tree_merge_release(struct tree_merge *merge);

#endif
