/*
 * Names that tools run or obey, and names that hold secrets.
 *
 * The table is names.txt, which also says how patterns match. A name can belong to several classes.
 */
#ifndef FENCE_PLAN_NAMES_H
#define FENCE_PLAN_NAMES_H

#include "util/file/dirwalk.h"

#include <stddef.h>

enum names_class {
	NAMES_ALONE, /* run or obeyed unasked */
	NAMES_START, /* run or obeyed when its tool starts */
	NAMES_CI,    /* run or obeyed by a server, after a push */
	NAMES_SECRET,
	NAMES_SECRET_IF_KEY, /* these depend on the content: see secret.h */
	NAMES_SECRET_IF_FOUND,
	NAMES_SECRET_OR_CERTIFICATE,
	NAMES_CLASSES
};

/* The reader of a file in each class, or NULL if the file is not in that class. */
struct names_found {
	const char *by[NAMES_CLASSES];
};

/*
 * Classifies the last name of a path. The names before it only complete patterns such as
 * `.cargo/config`; they may be in root, the tree that the path is relative to (may be ""). type is
 * DT_*. A symlink counts as every folder that a pattern begins with, because tools follow it.
 */
struct names_found names_find(const char *root, const char *path, unsigned char type);

/* Returns the classes of all folders that contain this relative path. */
struct names_found names_above(const char *root, const char *path);

/* A walk of a tree: remembers the folder of the last entry, because a folder's entries are visited
 * together. */
struct names_walk {
	const char *root;
	struct dirwalk_folder folder;
	struct names_found above;
};

/* Classifies an entry of a walk. It also belongs to NAMES_START if a folder above it does. */
struct names_found names_entry(struct names_walk *walk, const struct dirwalk_entry *entry);

/* Returns who reads a secret with this name, without a look at its content, or NULL. */
const char *names_secret(const struct names_found *found);

#endif
