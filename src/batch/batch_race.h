/*
 * Races: several candidates solve one task, each in a loop of its own. The first that is verified
 * wins, or the one that a person picks; the others are stopped. A task without candidates is its
 * own only one.
 */
#ifndef BATCH_BATCH_RACE_H
#define BATCH_BATCH_RACE_H

#include "batch/batch_state.h"

/* Is the task with this first candidate done? */
bool batch_race_has_landed(const struct batch_state *state, size_t first);

/* Has every candidate failed, or lost against one that failed later? */
bool batch_race_has_failed(const struct batch_state *state, size_t first);

/* Has another candidate won? */
bool batch_race_is_lost(const struct batch_state *state, size_t task);

/* Is the loop of this task to be aborted, because it has lost, or the whole batch is? */
bool batch_race_is_unwanted(const struct batch_state *state, size_t task);

/* Is this candidate verified, and does its race wait for a person to pick one? */
bool batch_race_waits(const struct batch_state *state, size_t task);

#endif
