/*
 * Folders that tools make again at every run: builds, caches, installed packages. A change in them says
 * nothing about the progress of the work.
 */
#ifndef SNAPSHOT_GENERATED_H
#define SNAPSHOT_GENERATED_H

#include <stdbool.h>

/* Does a folder, or a file, of this name hold what tools make? .git counts as well. */
bool generated_is(const char *name);

#endif
