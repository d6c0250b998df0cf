/*
 * Keeps git in a private git directory from reading files that the fence hides: git add -A and git
 * commit -a would fail, and git status would call them changed.
 */
#ifndef SNAPSHOT_GIT_HIDDEN_PATHS_H
#define SNAPSHOT_GIT_HIDDEN_PATHS_H

#include "util/error.h"
#include "util/list.h"

/*
 * Marks the tracked ones among these paths, and below them, in an index (skip-worktree). An index
 * that this program cannot read (split, or sparse) stays as it is. Returns 0, or -1 with err set.
 */
int hidden_paths_skip(const struct list *paths, const char *index, struct error *err);

/* Adds the paths to info/exclude of a git directory. Returns 0, or -1 with err set. */
int hidden_paths_ignore(const struct list *paths, int git, struct error *err);

#endif
