/*
 * The entries of a view that the commands of its draft have made.
 *
 * The fence hides names of secrets. Names that the project hides stay hidden in a view. But a file
 * that a command of the draft has made can only hold what a command could read, whatever its name
 * is.
 *
 * A command has made what the draft has and the project did not give. A file of the project that
 * was changed in place counts as well, while the project has a file at that path. One that was
 * moved does not count, nor does a file in front of the view, nor anything that cannot be told.
 */
#ifndef DRAFT_DRAFT_OWN_H
#define DRAFT_DRAFT_OWN_H

#include "draft/draft_view.h"

#include <stdbool.h>

struct draft_own;

/* Opens the layers of a view, which this process has not entered yet. Returns 0, or -1 with err
 * set. The caller frees *ret_own with draft_own_free(), which accepts NULL. */
int draft_own_open(const struct draft_view *view, struct draft_own **ret_own, struct error *err);
void draft_own_free(struct draft_own *own);

/* Reports whether commands made the entry at this path of the project, which no symlink is part of.
 * The answer about a symlink has no meaning: it has no mark. */
bool draft_own_has(const struct draft_own *own, const char *path);

#endif
