/*
 * The end of a loop with its own work tree: Ringfence commits on top of the branch whatever is
 * uncommitted, so that the branch is the result: work that the agent left, files that a sweep has
 * removed, or a rollback by the user. The message says which.
 */
#ifndef LOOP_RUN_LEFTOVERS_H
#define LOOP_RUN_LEFTOVERS_H

#include "loop/state/loop_state.h"

/*
 * Commits leftovers of the loop in this folder. Does nothing if it works in the user's folder.
 * Returns 0, or -1 with err set.
 */
int leftovers_commit(const char *folder, const struct loop_state *state, struct error *err);

/*
 * Undoes that commit when the loop resumes; otherwise the agent's next commit would diverge from
 * it.
 */
int leftovers_open(const char *folder, const struct loop_state *state, struct error *err);

/* The author of such a commit. */
#define LEFTOVERS_NAME "Ringfence"
#define LEFTOVERS_MAIL "ringfence@localhost"

/* Returns the message of such a commit: "Ringfence 20260102-030405-abcd: fix the tests", and why it
 * was made. The caller frees it. */
char *leftovers_message(const char *id, const struct loop_state *state);

/* Returns the objective in one short line. The caller frees it. */
char *leftovers_subject(const struct loop_options *options);

#endif
