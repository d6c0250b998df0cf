/*
 * The home folder and the folder for temporary files of a run.
 *
 * In a fence with mounts both are empty file systems, at the paths of the real ones. A command that
 * shares the host's file tree gets two folders in Ringfence's state instead, which are made for the
 * run and removed after it. A run that was killed leaves them to the next one.
 */
#ifndef FENCE_RUN_RUN_HOME_H
#define FENCE_RUN_RUN_HOME_H

#include "fence/fence_plan.h"
#include "util/error.h"

/* Sets the plan's home and tmp, and its own folder if the mechanism needs one. Makes nothing. */
void run_home_choose(struct fence_plan *plan);

/* Makes the folders of a plan that needs them, and removes those of killed runs. *ret_lock is held
 * as long as the folders are in use, or -1. Returns 0, or -1 with err set. */
int run_home_make(const struct fence_plan *plan, int *ret_lock, struct error *err);

/* Removes the folders, and closes the lock. Returns 0, or -1 with err set. */
int run_home_remove(const struct fence_plan *plan, int *lock, struct error *err);

#endif
