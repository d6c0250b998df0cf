/*
 * Keeps the objects that libgit2 writes to a repository in memory, so that a merge can be tried
 * without leaving anything behind.
 */
#ifndef SNAPSHOT_APPLY_MEMORY_OBJECTS_H
#define SNAPSHOT_APPLY_MEMORY_OBJECTS_H

#include "util/error.h"

#include <git2.h>
#include <stdbool.h>

struct memory_objects;

/* Starts; the objects are freed with the repository. Returns 0, or -1 with err set. */
int memory_objects_begin(git_repository *repository, struct memory_objects **ret_memory,
			 struct error *err);

/*
 * Writes all objects to disk as loose objects. sync: sync each; otherwise the caller syncs. Returns
 * 0, or -1 with err set.
 */
int memory_objects_write(struct memory_objects *memory, git_repository *repository, bool sync,
			 struct error *err);

#endif
