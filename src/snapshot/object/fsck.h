/*
 * Is an object of git what it should be? As strict as `git fsck --strict`, and stricter about names: what is imported
 * from somebody else's repository is checked out later, by whoever, on whichever file system.
 */
#ifndef SNAPSHOT_OBJECT_FSCK_H
#define SNAPSHOT_OBJECT_FSCK_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* As in packs. */
enum fsck_type { FSCK_ANY, FSCK_COMMIT, FSCK_TREE, FSCK_BLOB, FSCK_TAG };

enum { FSCK_ID = 20, FSCK_MODULES_BYTES = 1 << 20, FSCK_ATTRIBUTES_BYTES = 100 << 20 };

/* Trees below one another. Git itself falls over its stack where they are many thousands. */
enum { FSCK_DEEPEST = 256 };

/* What an object refers to. */
struct fsck_link {
	unsigned char id[FSCK_ID];
	enum fsck_type type;
	bool modules;    /* it is called .gitmodules: fsck_special() for its content */
	bool attributes; /* .gitattributes, likewise */
};

/* Returns 0, or -1 with err set, which ends the check. */
typedef int fsck_fn(void *context, const struct fsck_link *link, struct error *err);

/* Checks the bytes of an object, and calls the function for everything that must be there for it. Commits of
 * submodules need not. Returns 0, or -1 with err set: a part of a sentence ("a tree with ..."). */
int fsck_object(enum fsck_type type, const char *bytes, size_t size, fsck_fn *found, void *context,
		struct error *err);

/* The content of a .gitmodules: no address or path that a program could take for an option, no command. */
int fsck_modules(const char *bytes, size_t size, struct error *err);

/* The content of a .gitattributes: nothing that git would not read, or could not. */
int fsck_attributes(const char *bytes, size_t size, struct error *err);

/* The content of a file that git reads by itself, by what it is called. */
int fsck_special(const struct fsck_link *link, const char *bytes, size_t size, struct error *err);

/* Would some file system take this name for ".git" (or for ".gitmodules", ".gitattributes")? */
bool fsck_is_dotgit(const char *name);
bool fsck_is_modules(const char *name);
bool fsck_is_attributes(const char *name);

#endif
