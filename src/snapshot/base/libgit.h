/* How this program uses libgit2. */
#ifndef SNAPSHOT_BASE_LIBGIT_H
#define SNAPSHOT_BASE_LIBGIT_H

#include "util/error.h"

#include <git2.h>
#include <stdbool.h>

/*
 * Initializes the library: no configuration is read that is not passed explicitly, and every object
 * is verified against its id when it is read. It syncs everything that it writes.
 */
void libgit_init(void);

/* Makes the library sync the objects that it writes, or not: then the caller syncs them together.
 * It always syncs refs. */
void libgit_sync(bool sync);

/* Returns the library's last error message. */
const char *libgit_reason(void);

/* Sets err to "what: last error message" and returns -1. */
int libgit_error(const char *what, struct error *err);

/*
 * Looks up the tree of a commit. The zero id, which stands for no commit, gives the zero id.
 * Returns 0, or -1 with err set.
 */
int libgit_tree(git_repository *repository, const git_oid *commit, git_oid *ret_tree,
		struct error *err);

#endif
