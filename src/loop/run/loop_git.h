/*
 * Git for the agent: inside the fence the project's .git is a private directory of the loop's (STATE/loops/ID/git), in
 * which it can commit as it likes. After each iteration what it committed comes into the user's repository, as the branch
 * ringfence/ID. Both are done by ringfence-snapshot; each is an event. What cannot be done is named, and the loop goes
 * on: with .git read-only, or with the commits where they are.
 */
#ifndef LOOP_RUN_LOOP_GIT_H
#define LOOP_RUN_LOOP_GIT_H

#include "loop/supervise/supervisor.h"

/* Before the first run in the fence of this supervisor: decides what git is inside, once for the loop, makes the directory, if it is not there, and finds out what is to
 * be shown inside (sup->git.covers). Returns 0, or -1 with err set: the supervisor cannot go on. */
int loop_git_open(struct supervisor *sup, struct error *err);

/* After an iteration. Returns 0, or -1 with err set: the supervisor cannot go on. */
int loop_git_import(struct supervisor *sup, struct error *err);

/* Where the agent's HEAD is: the private directory, or the project's; the caller frees. */
char *loop_git_place(const struct supervisor *sup);

#endif
