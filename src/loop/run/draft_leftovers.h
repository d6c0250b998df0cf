/*
 * The end of a loop on a draft, in a repository: work that the agent did not commit is committed in
 * its private git directory, in the fence, and imported like the agent's own commits. So the branch
 * ringfence/LOOP is the result. Files that only the user had changed, before the loop, are left
 * alone.
 *
 * Every step can be repeated after a crash.
 */
#ifndef LOOP_RUN_DRAFT_LEFTOVERS_H
#define LOOP_RUN_DRAFT_LEFTOVERS_H

#include "loop/supervise/supervisor.h"

/* Reports whether the loop ends in this way. */
bool draft_leftovers_wanted(const struct loop_state *state);

/*
 * Commits. folder: for logs. *ret_why, which the caller frees, says why work is not in the branch,
 * or is NULL. Returns 0, or -1 with err set if the supervisor cannot continue; it may be leaving.
 */
int draft_leftovers_commit(struct supervisor *sup, const char *folder, char **ret_why,
			   struct error *err);

#endif
