/*
 * Reads and writes git refs: packed-refs and loose files. Reflogs and configuration are not read.
 */
#ifndef SNAPSHOT_OBJECT_REFS_H
#define SNAPSHOT_OBJECT_REFS_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { REFS_HEX = 40, REFS_MOST = 200000, REFS_LONGEST = 240 };

struct refs_entry {
	char *name;             /* refs/heads/x */
	char hex[REFS_HEX + 1]; /* empty for a symbolic ref */
	char *target;
	size_t order; /* of two refs with the same name, the later one wins */
};

struct refs {
	struct refs_entry *items; /* sorted by name after refs_read() */
	size_t count;
	size_t odd; /* number of skipped entries: invalid names or ids, not regular files */
};

/*
 * Reads the refs below refs/heads, refs/tags and refs/remotes, and refs/stash, of a git directory,
 * without following symlinks. Returns 0, or -1 with err set if there are too many.
 */
int refs_read(int git, struct refs *ret_refs, struct error *err);

/*
 * Parses a packed-refs file and appends its refs, unsorted. With `all`, refs outside the folders
 * above are included. Returns 0, or -1 with err set.
 */
int refs_parse(const char *bytes, size_t size, bool all, struct refs *refs, struct error *err);
void refs_sort(struct refs *refs);

/* Sets a ref, or removes it if hex is NULL. Returns 0, or -1 with err set. */
int refs_set(struct refs *refs, const char *name, const char *hex, struct error *err);
void refs_release(struct refs *refs);

/* Returns the ref with this name, or NULL. */
const struct refs_entry *refs_find(const struct refs *refs, const char *name);

/* Writes a packed-refs file; symbolic refs are omitted. */
void refs_write(const struct refs *refs, struct buffer *out);

/*
 * Reads HEAD: an id or the name of a ref. Returns false if it is neither. The caller frees the
 * target.
 */
bool refs_head(int git, struct refs_entry *ret_head);

/* Follows symbolic refs. Returns an id, or NULL if the ref does not exist. */
const char *refs_resolve(const struct refs *refs, const struct refs_entry *ref);

/*
 * Reports whether the name is valid. Stricter than git: no leading dash, no control characters,
 * valid UTF-8, bounded length.
 */
bool refs_name_is_sane(const char *name);

/* Creates the parent folders of a ref's file. Returns 0, or -1 with errno set. */
int refs_make_folders(int git, const char *name, mode_t mode);

#endif
