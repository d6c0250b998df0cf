/*
 * The end of a loop with a work tree of its own: what the agent left uncommitted is committed on top of its branch, by
 * Ringfence, so that the branch is the result.
 */
#ifndef LOOP_RUN_LEFTOVERS_H
#define LOOP_RUN_LEFTOVERS_H

#include "loop/state/loop_state.h"

/* folder: of the loop. Nothing happens if it works in the user's own folder. Returns 0, or -1 with err set. */
int leftovers_commit(const char *folder, const struct loop_options *options, struct error *err);

/* The loop goes on: that commit is taken off again, or the agent's next one would stand beside it. */
int leftovers_open(const char *folder, const struct loop_options *options, struct error *err);

/* The objective in one short line; the caller frees. */
char *leftovers_subject(const struct loop_options *options);

#endif
