/*
 * Makes folders of a draft movable.
 *
 * Overlayfs renames a folder only if the lower layer does not have it, and fails with EXDEV
 * otherwise. This moves the entries of such a folder to a new one, which replaces it, from the
 * innermost folder outwards. Nobody sees a difference afterwards, except by inode numbers. While
 * the entries of one folder move, others may miss them.
 *
 * It runs in a process of its own inside the fence of the command, because it walks a tree that the
 * command controls: it can be deceived only into what the command could do itself.
 *
 *	PROJECT/.ringfence-rename/new	replaces the folder
 *	PROJECT/.ringfence-rename/note	a symlink: mode, time and path of the folder. A symlink
 *					appears with its contents, also after a power cut.
 */
#ifndef FENCE_INIT_MOVABLE_H
#define FENCE_INIT_MOVABLE_H

#include "util/error.h"

#include <stdbool.h>

enum { MOVABLE_COPIERS = 8 };

/* Makes the folder at `path`, relative to the project, movable, with up to this many processes.
 * Returns 0, or -1 with err set: it is too large, cannot be read, belongs to another user or
 * contains a mount. It is then as it was. */
int movable_make(const char *project, const char *path, unsigned int copiers, struct error *err);

/* Reports whether movable_make() was interrupted in a project. */
bool movable_interrupted(const char *project);

/* Finishes an interrupted movable_make(). Returns 0, or -1 with err set. */
int movable_finish(const char *project, struct error *err);

#endif
