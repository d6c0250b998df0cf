/* A round of checks: before the first iteration, or after an agent. */
#ifndef LOOP_SUPERVISE_CHECK_ROUND_H
#define LOOP_SUPERVISE_CHECK_ROUND_H

#include "loop/supervise/supervisor.h"

/* Runs the checks, those of the phase, then the final ones if everything else holds, and records
 * the results. If the step has changed afterwards, the loop or this attempt has ended. Returns 0,
 * or -1 with err set. */
int check_round_run(struct supervisor *sup, const char *folder, struct error *err);

/* Ends the loop if the program of a check is missing. Returns whether one is; *ret_result is then
 * 0, or -1 with err set. */
bool check_round_absent(struct supervisor *sup, int *ret_result, struct error *err);

/* Pauses the loop: without knowing the pinned files, a check could decide by the agent's version of
 * them. Returns 0, or -1 with err set. */
int check_round_unpinned(struct supervisor *sup, const char *why, struct error *err);

#endif
