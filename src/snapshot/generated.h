/*
 * Folders and files that tools regenerate: build output, caches, installed packages. A change in
 * them does not count as progress.
 */
#ifndef SNAPSHOT_GENERATED_H
#define SNAPSHOT_GENERATED_H

#include <stdbool.h>

/* Reports whether a folder or file of this name is generated. `.git` counts as generated. */
bool generated_is(const char *name);

#endif
