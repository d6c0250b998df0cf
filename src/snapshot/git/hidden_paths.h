/*
 * Keeps git in a private git directory from reading files that the fence hides: git add -A and git
 * commit -a would fail, and git status would call them changed.
 */
#ifndef SNAPSHOT_GIT_HIDDEN_PATHS_H
#define SNAPSHOT_GIT_HIDDEN_PATHS_H

#include "util/error.h"
#include "util/list.h"
#include "util/textset.h"

#include <stdbool.h>

/* Paths to look up; an empty struct has none. */
struct hidden_paths {
	struct list paths;
	struct textset set;
};

/* Copies the paths. */
void hidden_paths_set(const struct list *paths, struct hidden_paths *ret_hidden);
void hidden_paths_release(struct hidden_paths *hidden);

/* Reports whether a path is hidden, or in a hidden folder. */
bool hidden_paths_has(const struct hidden_paths *hidden, const char *path);

/* Reports the same, and whether something in this folder is hidden. */
bool hidden_paths_is_near(const struct hidden_paths *hidden, const char *folder);

/*
 * The hidden paths of a loop are kept in the file "hidden" of a folder that the agent cannot reach,
 * for later directories and for imports. hidden_paths_read() finds none if there is no such file.
 * Return 0, or -1 with err set.
 */
int hidden_paths_write(const struct list *paths, int own, struct error *err);
int hidden_paths_read(int own, struct list *ret_paths, struct error *err);

/*
 * Marks the tracked ones among these paths, and below them, in an index (skip-worktree). An index
 * that this program cannot read (split, or sparse) stays as it is. Returns 0, or -1 with err set.
 */
int hidden_paths_skip(const struct list *paths, const char *index, struct error *err);

/* Adds the paths, and usual caches (generated.h), to info/exclude of a git directory. Returns 0, or
 * -1 with err set. */
int hidden_paths_ignore(const struct list *paths, int git, struct error *err);

#endif
