/* Follows a path to its end, symlink by symlink. */
#ifndef UTIL_FILE_SYMLINKS_H
#define UTIL_FILE_SYMLINKS_H

#include "util/textset.h"

#include <limits.h>
#include <sys/types.h>

/* Reads a symlink as readlink() does; for a tree that is not on disk as it is to be followed. */
typedef ssize_t symlinks_read_fn(void *context, const char *path, char target[PATH_MAX]);

/* Remembers folders that are not symlinks, so that each is looked at once for any number of paths.
 * Starts as zero. */
struct symlinks {
	struct textset folders;
	symlinks_read_fn *read; /* NULL: readlink() */
	void *context;          /* of read */
};

/* Called with the real path of an entry and, if it is a symlink that is followed, with its target
 * as it is written; else with NULL. */
typedef void symlinks_fn(void *context, const char *path, const char *target);

/*
 * Returns the real path of the file that an absolute path leads to. Unlike with realpath(), the
 * file may be missing, also if a symlink leads to it. Calls `passed` for every entry on the way,
 * from the first name to the file, whether or not it exists. Follows at most 40 symlinks, as the
 * kernel does. The caller frees the result.
 */
char *symlinks_follow(struct symlinks *symlinks, const char *path, symlinks_fn *passed,
		      void *context);
void symlinks_release(struct symlinks *symlinks);

#endif
