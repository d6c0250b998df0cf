/*
 * Reads an index file of git, which an agent may have written: which paths are staged with which
 * content. Versions 2 and 3 are read; other forms (version 4, split, sparse) are not needed.
 */
#ifndef SNAPSHOT_OBJECT_INDEX_READ_H
#define SNAPSHOT_OBJECT_INDEX_READ_H

#include "snapshot/object/fsck.h"

#include <stdint.h>

enum { INDEX_READ_MOST = 2000000 };

struct index_read_entry {
	const char *path; /* in the bytes that were read */
	const unsigned char *id;
	uint32_t mode;
	unsigned int stage; /* not 0 in a conflict */
};

struct index_read {
	struct index_read_entry *items; /* in the order of the file */
	size_t count;
	const unsigned char *tree; /* the tree of all entries, if the file names it; else NULL */
};

enum index_read_result { INDEX_READ_WHOLE, INDEX_READ_OTHER, INDEX_READ_DAMAGED };

/*
 * Reads the bytes of a file, which are followed by a NUL. The caller keeps them, and releases the
 * index in all cases; it is empty unless the result is INDEX_READ_WHOLE.
 */
enum index_read_result index_read_parse(const char *bytes, size_t size,
					struct index_read *ret_index);
void index_read_release(struct index_read *index);

#endif
