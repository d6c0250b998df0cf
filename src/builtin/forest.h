/*
 * A walk through the project in sorted order, without what its ignore files name (.gitignore in every folder,
 * .ringfenceignore and .claudeignore at the root) and without .git. Symlinks are shown, and not followed.
 */
#ifndef BUILTIN_FOREST_H
#define BUILTIN_FOREST_H

#include "builtin/tool.h"

#include <stdint.h>

enum {
	FOREST_DEPTH = 64,
	FOREST_NAMES = 100000,   /* in one folder */
	FOREST_ENTRIES = 500000, /* of a walk */
	FOREST_PATTERNS = 2000,  /* in force at once */
	FOREST_IGNORE = 1 << 20, /* bytes of an ignore file */
};

struct forest_entry {
	const char *path;   /* relative to the project's root */
	int folder;         /* that it is in */
	const char *name;   /* there */
	unsigned char type; /* DT_* */
	unsigned int depth; /* from 1 */
};

enum forest_verdict { FOREST_ON, FOREST_PAST, FOREST_STOP };

typedef enum forest_verdict forest_fn(void *context, const struct forest_entry *entry);

/* Walks what is below a folder of the project (a path of beneath_path()). Returns 0, or -1 with err set. */
int forest_walk(const struct bench *bench, const char *path, forest_fn *visit, void *context,
		struct error *err);

#endif
