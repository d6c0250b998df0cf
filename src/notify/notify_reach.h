/*
 * The reach of an agent: the project, and other folders that it may write to. Nothing there is run
 * outside the fence, or read as a secret.
 */
#ifndef NOTIFY_NOTIFY_REACH_H
#define NOTIFY_NOTIFY_REACH_H

#include "util/list.h"

#include <stdbool.h>

struct notify_reach {
	struct list places; /* real paths */
};

/* Adds a path, of which "~" begins the home; an empty one is ignored. */
void notify_reach_add(struct notify_reach *reach, const char *path, const char *home);
void notify_reach_release(struct notify_reach *reach);

/* Can an agent decide what an absolute path leads to? Every symlink on the way counts, also of a
 * file that is missing. */
bool notify_reach_has(const struct notify_reach *reach, const char *path);

/* Finds a program in the folders of PATH that are out of reach. The caller frees; NULL: none. */
char *notify_reach_find(const struct notify_reach *reach, const char *name);

/* Returns "PATH=" with those folders. The caller frees it. */
char *notify_reach_path(const struct notify_reach *reach);

#endif
