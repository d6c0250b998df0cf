/*
 * What a project should be, and how that differs from what it is. Both are trees of nodes.
 */
#ifndef SNAPSHOT_UNDO_RESTORE_PLAN_H
#define SNAPSHOT_UNDO_RESTORE_PLAN_H

#include "snapshot/store/node.h"
#include "util/error.h"
#include "util/list.h"

/* Marks in both trees the files whose hard links are not the same in both: node->unsure. */
void restore_plan_links(struct node *present, struct node *target);

/* Can this file or link stay as it is, but for its mode? */
bool restore_plan_stays(const struct node *present, const struct node *target);

/* Replaces one path of a tree by what another one has there; the folders above come along if they are
 * missing. Returns 0, or -1 with err set. */
int restore_plan_graft(struct node *tree, const struct node *from, const char *path,
		       struct error *err);

/* The first path at which two trees differ; the caller frees. NULL: nowhere. Sockets and the like do not
 * count, nor does what is ignored, nor folders that were kept. */
char *restore_plan_difference(struct node *present, struct node *target, const struct list *kept);

#endif
