/*
 * Git's filter "lfs" for the git inside a fence, where neither the user's configuration nor git-lfs
 * need be. Clean makes a pointer of content, and puts the content into a store; smudge makes
 * content of a pointer, or leaves it if no store has the content.
 */
#ifndef LFS_LFS_FILTER_H
#define LFS_LFS_FILTER_H

#include "util/error.h"

/* The words of a command line: ringfence-init LFS_FILTER_CLEAN STORE, and
 * ringfence-init LFS_FILTER_SMUDGE STORE OTHER-OBJECTS. */
#define LFS_FILTER_CLEAN  "lfs-clean"
#define LFS_FILTER_SMUDGE "lfs-smudge"

/* Runs a command line from stdin to stdout. Returns 0, or -1 with err set. */
int lfs_filter_run(int argc, char *const *argv, struct error *err);

#endif
