/*
 * Finds git directories among ordinary files: git trusts their configuration when it is run inside,
 * although they are not named .git.
 */
#ifndef SNAPSHOT_APPLY_BARE_H
#define SNAPSHOT_APPLY_BARE_H

#include "util/textset.h"

#include <git2.h>
#include <stdbool.h>

struct bare {
	git_repository *repository;
	git_oid tree;          /* the tree to be applied; see also bare_set_tree() */
	int work;              /* descriptor of the work tree */
	struct textset coming; /* paths of bare_add() that could be parts of a git directory */
	char *folder;          /* the last folder that was checked, and the answer */
	bool answer;
};

/* Adds a path that is to be created, in whatever spelling. Call it for all before the first
 * bare_contains(). */
void bare_add(struct bare *bare, const char *path);

/*
 * Reports whether a path is inside a git directory, considering the new tree, the paths that were
 * added and the existing files.
 */
bool bare_contains(struct bare *bare, const char *path);

/* Considers another tree from now on. */
void bare_set_tree(struct bare *bare, const git_oid *tree);
void bare_release(struct bare *bare);

#endif
