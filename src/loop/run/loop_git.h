/*
 * Git for the agent: in the fence, the project's .git is a private directory of the loop
 * (STATE/loops/ID/git) in which the agent can commit freely. After each iteration its commits are
 * imported into the user's repository as the branch ringfence/ID. ringfence-snapshot does both;
 * each is an event. A failure is reported and the loop continues: with .git read-only, or with the
 * commits left where they are.
 */
#ifndef LOOP_RUN_LOOP_GIT_H
#define LOOP_RUN_LOOP_GIT_H

#include "loop/supervise/supervisor.h"

/*
 * Called before the supervisor's first run in the fence: decides once per loop how git works in the
 * fence, creates the directory if needed, and determines the mounts for it (sup->git.covers).
 * Returns 0, or -1 with err set if the supervisor cannot continue.
 */
int loop_git_open(struct supervisor *sup, struct error *err);

/*
 * Called before each run in the fence: removes locks of git processes that were killed, and records
 * it. Returns 0, or -1 with err set if the supervisor cannot continue.
 */
int loop_git_unlock(struct supervisor *sup, struct error *err);

/*
 * Imports the agent's commits after an iteration. Returns 0, or -1 with err set if the supervisor
 * cannot continue.
 */
int loop_git_import(struct supervisor *sup, struct error *err);

/*
 * Returns the git directory that holds the agent's HEAD: the private one, or the project's. The
 * caller frees it.
 */
char *loop_git_place(const struct supervisor *sup);

#endif
