/*
 * Names as they are stored. A tree of git must not hold `.git` in any of its disguises, and a large file is
 * kept as a tree of pieces: such names get a prefix. Everything else is stored as it is.
 */
#ifndef SNAPSHOT_STORE_STORED_NAME_H
#define SNAPSHOT_STORE_STORED_NAME_H

#include "util/buffer.h"

#include <stdbool.h>

/* Would some git, on some file system, take it for .git? */
bool stored_name_is_git(const char *name);

/* Appends the stored form of a name. */
void stored_name_store(struct buffer *out, const char *name, bool chunked);

/* The name of a stored one (a part of it), and whether its tree is a file in pieces. NULL: it is not one
 * that stored_name_store() makes. */
const char *stored_name_read(const char *stored, bool *ret_chunked);

#endif
