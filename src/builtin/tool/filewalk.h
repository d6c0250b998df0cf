/*
 * Walks the project in sorted order, skipping .git and ignored files (.gitignore in each folder,
 * .ringfenceignore and .claudeignore at the root). Symlinks are reported, not followed.
 */
#ifndef BUILTIN_TOOL_FILEWALK_H
#define BUILTIN_TOOL_FILEWALK_H

#include "builtin/tool/tool.h"

enum {
	FILEWALK_DEPTH = 64,
	FILEWALK_NAMES = 100000,   /* in one folder */
	FILEWALK_ENTRIES = 500000, /* of a walk */
	FILEWALK_PATTERNS = 2000,  /* in force at once */
	FILEWALK_IGNORE = 1 << 20, /* bytes of an ignore file */
};

struct filewalk_entry {
	const char *path;   /* relative to the project root */
	int folder;         /* the containing folder, open */
	const char *name;   /* within the folder */
	unsigned char type; /* DT_* */
	unsigned int depth; /* from 1 */
};

enum filewalk_verdict { FILEWALK_ON, FILEWALK_PAST, FILEWALK_STOP };

typedef enum filewalk_verdict filewalk_fn(void *context, const struct filewalk_entry *entry);

/* Walks the contents of a folder (a path from beneath_path()). Returns 0, or -1 with err set. */
int filewalk_run(const struct tool_context *ctx, const char *path, filewalk_fn *visit,
		 void *context, struct error *err);

#endif
