/*
 * The paths that a git configuration names for git to run or to read as configuration.
 *
 * Read as text, generously: git itself is never run on a repository that a command could write, and a
 * path too many is protected, no more.
 */
#ifndef FENCE_GITCONFIG_H
#define FENCE_GITCONFIG_H

#include <stdbool.h>

/* hooks: a hooksPath (relative to the work tree); else the path of an include (to the git directory). */
typedef void gitconfig_fn(void *context, bool hooks, const char *value);

/* Calls found for each of them. The text is taken apart. */
void gitconfig_each_path(char *text, gitconfig_fn *found, void *context);

#endif
