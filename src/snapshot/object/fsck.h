/*
 * Checks git objects, as strictly as `git fsck --strict` and more strictly for names: imported
 * objects may later be checked out by anyone on any file system.
 */
#ifndef SNAPSHOT_OBJECT_FSCK_H
#define SNAPSHOT_OBJECT_FSCK_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Same values as in packs. */
enum fsck_type { FSCK_ANY, FSCK_COMMIT, FSCK_TREE, FSCK_BLOB, FSCK_TAG };

enum { FSCK_ID = 20, FSCK_MODULES_BYTES = 1 << 20, FSCK_ATTRIBUTES_BYTES = 100 << 20 };

/* Nesting of trees. git itself overflows its stack at many thousands. */
enum { FSCK_DEEPEST = 256 };

/* A reference to another object. */
struct fsck_link {
	unsigned char id[FSCK_ID];
	enum fsck_type type;
	bool modules;    /* named .gitmodules: check its content with fsck_special() */
	bool attributes; /* named .gitattributes, likewise */
};

/* Returns 0, or -1 with err set, which ends the check. */
typedef int fsck_fn(void *context, const struct fsck_link *link, struct error *err);

/*
 * Checks the bytes of an object, and calls `found` for each object that it requires. Commits of
 * submodules are not required. Returns 0, or -1 with err set to a noun phrase ("a tree with ...").
 */
int fsck_object(enum fsck_type type, const char *bytes, size_t size, fsck_fn *found, void *context,
		struct error *err);

/* Checks a .gitmodules: no URL or path that looks like an option, no command. */
int fsck_modules(const char *bytes, size_t size, struct error *err);

/* Checks a .gitattributes: nothing that git would reject or ignore. */
int fsck_attributes(const char *bytes, size_t size, struct error *err);

/* Checks the content of a special file, one that git itself reads, by its name. */
int fsck_special(const struct fsck_link *link, const char *bytes, size_t size, struct error *err);

/*
 * Report whether any file system would treat this name as ".git", ".gitmodules" or
 * ".gitattributes".
 */
bool fsck_is_dotgit(const char *name);
bool fsck_is_modules(const char *name);
bool fsck_is_attributes(const char *name);

#endif
