/* Plans a restore: compares the present tree of a project with its target tree. */
#ifndef SNAPSHOT_UNDO_RESTORE_PLAN_H
#define SNAPSHOT_UNDO_RESTORE_PLAN_H

#include "snapshot/store/node.h"
#include "util/error.h"
#include "util/list.h"

/* Sets node->unsure in both trees for files whose sets of hard links differ. */
void restore_plan_links(struct node *present, struct node *target);

/* Reports whether this file or link can be kept, except for its mode. */
bool restore_plan_stays(const struct node *present, const struct node *target);

/*
 * Replaces one path of a tree with the same path of another tree; missing parent folders are
 * created. Returns 0, or -1 with err set.
 */
int restore_plan_graft(struct node *tree, const struct node *from, const char *path,
		       struct error *err);

/*
 * Returns the first path at which two trees differ, which the caller frees, or NULL. Skipped and
 * ignored entries and kept folders do not count.
 */
char *restore_plan_difference(struct node *present, struct node *target, const struct list *kept);

#endif
