/* Errors for a machine that cannot set up a fence, with the fix for this machine. */
#ifndef FENCE_TREE_REMEDY_H
#define FENCE_TREE_REMEDY_H

#include "util/error.h"

/* Sets err to how to install bubblewrap with this system's package manager. Returns -1. */
int remedy_missing_bwrap(const char *looked_for, struct error *err);

/* Sets err to why user namespaces do not work here and how to fix it, after `complaint` (may be
 * empty). Returns -1. */
int remedy_namespaces(const char *complaint, struct error *err);

/* Sets err to why a new /proc cannot be mounted here and how to fix it, after `complaint`. Returns
 * -1. */
int remedy_proc(const char *complaint, struct error *err);

#endif
