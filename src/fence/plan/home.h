/*
 * The home folder: a cheap test for which well-known paths may exist, and a search for symlinks.
 *
 * The built-in tables name about a hundred paths, and few exist. Reading the folder once avoids a
 * system call for each.
 */
#ifndef FENCE_PLAN_HOME_H
#define FENCE_PLAN_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* A Bloom filter of the entries' names. */
struct home {
	uint64_t seen[32];
	bool unsure; /* the listing failed or may be incomplete, so anything may exist */
};

void home_read(const char *path, struct home *ret_home);

/* Returns false only if `place`, relative to home, did not exist when home was read. */
bool home_may_have(const struct home *home, const char *place);

/* Called with the path of a symlink; secret: its target is a key or a credential. */
typedef void home_fn(void *context, const char *path, bool secret);

/*
 * Calls `found` for the symlinks in places that the host executes or reads as configuration,
 * unprompted, and in places with credentials. Folders of dotfiles are linked like that, file by
 * file. Reads names only, to a depth that suits each place, and also enters folders through
 * symlinks. Returns NULL, or the path of the first folder that was left out because there are too
 * many; the caller frees it.
 */
char *home_search(const char *path, const struct home *home, home_fn *found, void *context);

#endif
