/*
 * Lock files in a loop's private git directory. Git creates NAME.lock while it writes NAME. If it
 * is killed, the file stays, and every later git refuses to write. While nothing runs in the fence,
 * every lock is stale.
 */
#ifndef LOOP_RUN_GIT_LOCKS_H
#define LOOP_RUN_GIT_LOCKS_H

#include "util/list.h"

/* Removes the locks below a git directory, which is the agent's: no symlink is followed. Adds their
 * paths to *removed. */
void git_locks_remove(const char *git, struct list *removed);

#endif
