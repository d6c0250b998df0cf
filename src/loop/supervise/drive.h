/*
 * Drives one loop: carries out what the model says, an effect at a time, each written down before it is
 * done.
 */
#ifndef LOOP_SUPERVISE_DRIVE_H
#define LOOP_SUPERVISE_DRIVE_H

/* Runs the loop in this folder until it ends, pauses or cannot go on. farewell: where to say that the end
 * was meant (keeper.h). Returns the exit status of the process. */
int drive_run(const char *folder, int farewell);

#endif
