/* What to do on this very machine when no fence can be made. */
#ifndef FENCE_TREE_REMEDY_H
#define FENCE_TREE_REMEDY_H

#include "util/error.h"

/* "install bubblewrap: sudo apt-get install bubblewrap", with this system's package manager. Always
 * returns -1. */
int remedy_missing_bwrap(const char *looked_for, struct error *err);

/* Why user namespaces do not work here, and what to do about it. Always returns -1. */
int remedy_namespaces(const char *complaint, struct error *err);

#endif
