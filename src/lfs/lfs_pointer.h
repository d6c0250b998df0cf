/*
 * Pointers of Git LFS: the small text that git stores instead of a large file. It names the content
 * by its SHA-256 and its size (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).
 */
#ifndef LFS_LFS_POINTER_H
#define LFS_LFS_POINTER_H

#include "util/text/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text of this size or more is content. */
enum { LFS_POINTER_BYTES = 1024 };

struct lfs_pointer {
	char hex[SHA256_HEX]; /* of the content */
	uint64_t size;
	bool extended; /* programs of extensions have changed the content before it was stored */
};

/*
 * Reads a pointer. Only the canonical form is one: everything else is content. Returns whether it
 * is a pointer.
 */
bool lfs_pointer_read(const char *bytes, size_t size, struct lfs_pointer *ret_pointer);

/* Writes the text, with a NUL, and returns its length. Extensions are left out. */
size_t lfs_pointer_write(const struct lfs_pointer *pointer, char ret_text[LFS_POINTER_BYTES]);

#endif
