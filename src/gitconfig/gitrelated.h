/*
 * Finds the git directories that git uses together with one: the common directory of a linked work
 * tree, the directories of all linked work trees, and those of submodules, at any depth.
 */
#ifndef GITCONFIG_GITRELATED_H
#define GITCONFIG_GITRELATED_H

#include "util/error.h"

/* Remembers what was found, so that each directory is entered once. One limit applies to all. */
struct gitrelated;
struct gitrelated *gitrelated_new(void);
void gitrelated_free(struct gitrelated *related);

/* Returns 0, or -1 with err set, which ends the search. */
typedef int gitrelated_fn(void *context, const char *git, const char *work_tree, struct error *err);

/*
 * Calls `found` for a git directory and all that are related, each with its work tree; with two, if
 * it has another one by its own configuration. A pair that was found before is skipped. Returns 0,
 * or -1 with err set, also if there are more folders to read than the limit allows.
 */
int gitrelated_each(struct gitrelated *related, const char *git, const char *work_tree,
		    gitrelated_fn *found, void *context, struct error *err);

#endif
