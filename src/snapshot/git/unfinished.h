/*
 * Finds signs in a private git directory that something of the agent's was not committed: staged
 * files, a merge or rebase that stopped, a damaged index, a lock. Git inside has told the agent
 * why; here only the result can be seen.
 */
#ifndef SNAPSHOT_GIT_UNFINISHED_H
#define SNAPSHOT_GIT_UNFINISHED_H

#include "snapshot/git/import_check.h"
#include "util/list.h"

/*
 * Adds a sentence for each sign. git: the directory; own: the folder with the index that it began
 * with, because what the user has staged is not the agent's; head: the commit of HEAD, or NULL.
 */
void unfinished_find(struct import_check *check, int git, int own, const git_oid *head,
		     struct list *ret_words);

/* The name of that index. */
#define UNFINISHED_INDEX "index"

#endif
