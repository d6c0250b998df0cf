/*
 * Names of commits, as git keeps them in files: packed-refs, and one file each. Nothing else is read: no reflog, no
 * configuration.
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
	char hex[REFS_HEX + 1]; /* empty: it stands for another one */
	char *target;
	size_t order; /* of two with the same name the later one holds */
};

struct refs {
	struct refs_entry *items; /* sorted by name after refs_read() */
	size_t count;
	size_t odd; /* that were passed over: no names of git, no ids, no files */
};

/* Reads those below refs/heads, refs/tags and refs/remotes, and refs/stash, of a git directory that is open; no symlink is
 * followed. Returns 0, or -1 with err set: there are too many. */
int refs_read(int git, struct refs *ret_refs, struct error *err);

/* The same of bytes of a packed-refs file: adds to what is there, unsorted; those below another folder, too, if
 * all are wanted. */
int refs_parse(const char *bytes, size_t size, bool all, struct refs *refs, struct error *err);
void refs_sort(struct refs *refs);

/* Sets one, or takes it away (hex NULL). */
int refs_set(struct refs *refs, const char *name, const char *hex, struct error *err);
void refs_release(struct refs *refs);

/* The one with this name, or NULL. */
const struct refs_entry *refs_find(const struct refs *refs, const char *name);

/* As a packed-refs file; those that stand for another one are left out. */
void refs_write(const struct refs *refs, struct buffer *out);

/* What HEAD says: an id, or the name of a ref. False: neither. */
bool refs_head(int git, struct refs_entry *ret_head);

/* Follows names that stand for others. NULL: it leads nowhere. */
const char *refs_resolve(const struct refs *refs, const struct refs_entry *ref);

/* Would git take this for a name, and would we? Stricter than git: no leading dash, no control characters, valid UTF-8,
 * not too long. */
bool refs_name_is_sane(const char *name);

/* Makes the folders that the file of a ref is in. Returns 0, or -1 with errno. */
int refs_make_folders(int git, const char *name, mode_t mode);

#endif
