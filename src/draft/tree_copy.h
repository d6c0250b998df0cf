/*
 * Copies a folder tree: contents with their holes, modes, times, symlinks, hard links within the
 * tree, named pipes, sockets and user attributes. Where the file system can share the contents of
 * two files until one of them changes, they are shared, which takes no space.
 *
 * Other file systems that are mounted in the tree are copied with it. A file or folder that cannot
 * be read is empty in the copy, with its mode; devices are left out, except for the marks of a
 * layer. The source is never changed. It may change meanwhile: each change is in the copy or not.
 */
#ifndef DRAFT_TREE_COPY_H
#define DRAFT_TREE_COPY_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TREE_COPY_DEEPEST = 256 };

/* Returns whether an entry, whose path is relative to the tree, becomes an empty one. */
typedef bool tree_copy_empties_fn(void *context, const char *path, bool is_folder);
typedef void tree_copy_fn(void *context, uint64_t done_bytes, uint64_t all_bytes);

struct tree_copy {
	int from, to;         /* descriptors of folders; `to` is empty */
	dev_t omitted_device; /* the folder that is not copied, because it contains `to` */
	ino_t omitted_inode;
	tree_copy_fn *progress; /* or NULL */
	void *progress_context;
	tree_copy_empties_fn *empties; /* or NULL */
	void *empties_context;
	bool layer; /* the tree is an upper layer: its marks for deleted files are copied */

	uint64_t all_bytes; /* from here on: the results */
	uint64_t done_bytes;
	uint64_t left_out; /* files and folders that could not be read, and devices */
	ino_t *emptied;    /* copies of files and folders that have no content; the caller frees */
	size_t emptied_count;
};

/* Sets all_bytes to the disk space that the copy needs: 0 if contents can be shared. Returns 0, or
 * -1 with err set. */
int tree_copy_measure(struct tree_copy *copy, struct error *err);

/* Copies. Returns 0, or -1 with err set; the copy is then incomplete. */
int tree_copy_run(struct tree_copy *copy, struct error *err);

/* Copies one entry of a folder, with everything in it, to another folder, which has no entry with
 * this name. *left_out, unless it is NULL, grows as in struct tree_copy. Returns 0, or -1 with err
 * set. */
int tree_copy_entry(int from, const char *name, int to, uint64_t *left_out, struct error *err);

#endif
