/*
 * The base of the ignored files that a draft changes.
 *
 * Checkpoints do not have these files, so no tree tells what they were when the draft began. The
 * project does: an ignored file there is its own base if it did not change since then, by its
 * change time, or if it is as an earlier apply of the draft, or its undo, found or left it. Any
 * other one gets a base that differs from every file, so a merge keeps it or names a conflict. A
 * file that is not there has no base.
 */
#ifndef SNAPSHOT_LOOK_TREE_IGNORED_H
#define SNAPSHOT_LOOK_TREE_IGNORED_H

#include "snapshot/look/ignore_rules.h"
#include "snapshot/look/tree_applied.h"
#include "snapshot/store/node.h"

struct tree_ignored_facts {
	const struct ignore_rules *rules;
	int64_t began_ms; /* when the draft began */
	const struct tree_applied_list *past;
};

/* Adds the base of the ignored files in `present`, a scan of the project, to a tree without ignored
 * files. The result borrows names from both trees; the caller releases it. */
void tree_ignored(const struct node *base, const struct node *present,
		  const struct tree_ignored_facts *facts, struct node *ret_result);

#endif
