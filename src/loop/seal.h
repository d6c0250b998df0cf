/*
 * The end of a loop with a work tree of its own: what the agent left uncommitted is committed on top of its branch, by
 * Ringfence, so that the branch is the result.
 */
#ifndef LOOP_SEAL_H
#define LOOP_SEAL_H

#include "loop/loop_state.h"

/* folder: of the loop. Nothing happens if it works in the user's own folder. Returns 0, or -1 with err set. */
int seal_work_tree(const char *folder, const struct loop_options *options, struct error *err);

/* The loop goes on: that commit is taken off again, or the agent's next one would stand beside it. */
int seal_open(const char *folder, const struct loop_options *options, struct error *err);

/* The objective in one short line; the caller frees. */
char *seal_subject(const struct loop_options *options);

#endif
