/* Runs one loop: performs one step after the other, and writes each event before acting on it. */
#ifndef LOOP_SUPERVISE_DRIVE_H
#define LOOP_SUPERVISE_DRIVE_H

/*
 * Runs the loop in this folder until it ends, pauses or cannot continue. farewell: the descriptor
 * on which to announce a deliberate exit (keeper.h). Returns the exit status of the process.
 */
int drive_run(const char *folder, int farewell);

#endif
