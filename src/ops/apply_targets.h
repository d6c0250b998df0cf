/*
 * Finds the changed files that a path which tools obey leads to: a path that the user's git
 * configuration names, a symlink in the user's home, or a symlink in the project with a name such
 * as .vscode.
 *
 * Each path is followed twice: in the work tree as it is, and as it will be with the changes. Every
 * changed entry on the way counts, such as a symlink that replaces a folder, and so do the end and
 * everything below it. The first entry that leads a path elsewhere is thus always found.
 */
#ifndef OPS_APPLY_TARGETS_H
#define OPS_APPLY_TARGETS_H

#include "util/error.h"

#include <jansson.h>

struct apply_targets;

/* answer: from ringfence-snapshot, with work_tree, changes and obeyed. Returns 0, or -1 with err
 * set. */
int apply_targets_new(const json_t *answer, struct apply_targets **ret_targets, struct error *err);
void apply_targets_free(struct apply_targets *targets);

/* Returns why a changed path should be reviewed, or NULL. */
const char *apply_targets_reason(const struct apply_targets *targets, const char *path);

#endif
