/*
 * A store of Git LFS: files named by the SHA-256 of their content, in objects/ab/cd/abcd... of a
 * folder, which is .git/lfs by default. An object has its name only when it is whole and on disk.
 *
 * An agent may have written the store: symlinks are not followed, and no content is believed.
 */
#ifndef LFS_LFS_STORE_H
#define LFS_LFS_STORE_H

#include "lfs/lfs_pointer.h"
#include "util/error.h"

/*
 * Opens the object of a pointer in an objects folder, for reading. Returns the descriptor, or -1
 * with errno set: ENOENT if it is not there with this size.
 */
int lfs_store_open(int objects, const struct lfs_pointer *pointer);

enum { LFS_STORE_NAME = 256 };

/* Content on its way into a store. */
struct lfs_store_entry {
	int lfs, folder, fd;
	char temporary[LFS_STORE_NAME];
	struct sha256 sha256;
	uint64_t size;
};

/*
 * Begins an object in a store. lfs: the folder that holds objects, or will. temporary: a file name
 * for its subfolder tmp; one that a killed process left is replaced, and if another process uses
 * it, a number is added. Returns 0, or -1 with err set. The caller ends or drops the entry.
 */
int lfs_store_begin(int lfs, const char *temporary, struct lfs_store_entry *ret_entry,
		    struct error *err);

/* Adds bytes, or the rest of a file, but at most `most` bytes. Return 0, or -1 with err set. */
int lfs_store_add(struct lfs_store_entry *entry, const void *bytes, size_t size, struct error *err);
int lfs_store_add_file(struct lfs_store_entry *entry, int fd, uint64_t most, struct error *err);

/*
 * Gives the object its name. wanted: what it must be, or NULL. Returns 0, or -1 with err set; the
 * entry is gone in both cases.
 */
int lfs_store_end(struct lfs_store_entry *entry, const struct lfs_pointer *wanted,
		  struct lfs_pointer *ret_pointer, struct error *err);
void lfs_store_drop(struct lfs_store_entry *entry);

#endif
