/* libgit2, as all of this program uses it. */
#ifndef SNAPSHOT_BASE_LIBGIT_H
#define SNAPSHOT_BASE_LIBGIT_H

#include "util/error.h"

#include <git2.h>

/* Begins with it: nothing is ever read as configuration but what it is given, and each object that is read is compared with
 * its name. */
void libgit_begin(void);

/* What it said last. */
const char *libgit_reason(void);

/* The same as the reason of a failure: returns -1. */
int libgit_trouble(const char *what, struct error *err);

/* The tree of a commit; of a zero id, which is none: a zero id. Returns 0, or -1 with err set. */
int libgit_tree(git_repository *repository, const git_oid *commit, git_oid *ret_tree,
		struct error *err);

#endif
