/*
 * Names as they are stored in git trees. A git tree must not hold `.git` or one of its aliases, and
 * a large file is stored as a tree of chunks: such names get a prefix. All other names are stored
 * unchanged.
 */
#ifndef SNAPSHOT_STORE_STORED_NAME_H
#define SNAPSHOT_STORE_STORED_NAME_H

#include "util/buffer.h"

#include <stdbool.h>

/* Reports whether any git on any file system would treat the name as .git. */
bool stored_name_is_git(const char *name);

/* Appends the stored form of a name. */
void stored_name_store(struct buffer *out, const char *name, bool chunked);

/*
 * Returns the original name (a part of `stored`), and whether its tree is a chunked file. Returns
 * NULL if stored_name_store() cannot have produced it.
 */
const char *stored_name_read(const char *stored, bool *ret_chunked);

#endif
