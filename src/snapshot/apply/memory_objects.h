/*
 * Objects that are made but not yet wanted: while these are in force, what libgit2 writes into a repository stays in
 * memory. So a merge can be tried, and nothing is left of one that is not made.
 */
#ifndef SNAPSHOT_APPLY_MEMORY_OBJECTS_H
#define SNAPSHOT_APPLY_MEMORY_OBJECTS_H

#include "util/error.h"

#include <git2.h>
#include <stdbool.h>

struct memory_objects;

/* From now on; they go with the repository. Returns 0, or -1 with err set. */
int memory_objects_begin(git_repository *repository, struct memory_objects **ret_drafts,
			 struct error *err);

/* Writes all of them to the disk, as loose objects; each is synced, unless the caller syncs all of it. Returns 0, or -1
 * with err set. */
int memory_objects_keep(struct memory_objects *drafts, git_repository *repository, bool sync,
			struct error *err);

#endif
