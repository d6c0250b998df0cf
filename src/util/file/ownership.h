/*
 * Says whether only one user, and root, can change what a path leads to.
 *
 * Every folder on the way counts, and every symlink: anyone who can write one of them can replace
 * what comes after it. In a folder with the sticky bit, such as /tmp, others cannot replace an
 * entry that belongs to the user. A group counts as others unless the user is its only member.
 */
#ifndef UTIL_FILE_OWNERSHIP_H
#define UTIL_FILE_OWNERSHIP_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Checks an absolute path as far as it exists; its last part must not be writable by others even
 * with the sticky bit. Returns 0, or -1 with an error that names the part and what to do. */
int ownership_check(const char *path, uid_t uid, struct error *err);

/* Checks one file or folder, `path`, by its status. Returns like ownership_check(). */
int ownership_check_one(const char *path, const struct stat *status, uid_t uid, struct error *err);

/* Checks the entries of a folder, unless others cannot enter it. Returns like ownership_check(). */
int ownership_check_entries(const char *folder, uid_t uid, struct error *err);

#endif
