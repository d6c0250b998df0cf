/*
 * Makes a file tree that was built on a stage (stage.h) the root of a container.
 *
 * The container's own tree vanishes with everything in it: its image, and whatever the engine, its
 * configuration or the image wanted to mount. Only its /proc stays, which belongs to its process
 * namespace.
 */
#ifndef FENCE_TREE_GRAFT_H
#define FENCE_TREE_GRAFT_H

#include "util/error.h"

/* Returns a detached copy of the tree at a path, or -1 with err set. For the process that built
 * it. */
int graft_cut(const char *root, struct error *err);

/* The same of a folder without the mounts in it, and read-only. */
int graft_cut_read_only(const char *path, struct error *err);

/* Moves this process to the user and mount namespace of another one (a pidfd), in which it forbids
 * user namespaces. Returns 0, or -1 with err set. */
int graft_enter(int process, struct error *err);

/* Makes a detached tree the root of all processes in the mount namespace of this one (a pidfd).
 * Leaves the calling process in its namespaces. Returns 0, or -1 with err set. */
int graft_onto(int process, int tree, struct error *err);

#endif
