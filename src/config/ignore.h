/*
 * .ringfenceignore and .claudeignore: patterns of files to hide in the project.
 *
 * They can only hide: a line that would show a file again is skipped with a notice.
 */
#ifndef CONFIG_IGNORE_H
#define CONFIG_IGNORE_H

#include "config/problem.h"
#include "util/list.h"
#include "util/text/glob.h"

#include <stddef.h>

enum { IGNORE_MOST_BYTES = 1 << 20, IGNORE_MOST_PATTERNS = 1000 };

struct ignore_pattern {
	struct glob glob;
	char *text;   /* as written in the file */
	char *origin; /* FILE:LINE */
};

struct ignore {
	struct ignore_pattern *items;
	size_t count;
};

/* Adds the patterns of a text. Skipped lines add a notice, mistakes add a problem. Returns 0, or -1
 * if there are problems. */
int ignore_read(struct ignore *ignore, const char *file, const char *text, size_t size,
		struct list *notices, struct list *problems);
void ignore_release(struct ignore *ignore);

#endif
