/*
 * The supervisor of one loop: carries out what the model says, an effect at a time, each written down
 * before it is done.
 */
#ifndef LOOP_SUPERVISOR_H
#define LOOP_SUPERVISOR_H

/* Runs the loop in this folder until it ends, pauses or cannot go on. farewell: where to say that the end
 * was meant (keeper.h). Returns the exit status of the process. */
int supervisor_run(const char *folder, int farewell);

#endif
