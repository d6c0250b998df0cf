/*
 * Runs one batch: begins the loops of its tasks, watches them, and lands their results. Every
 * decision is in the journal before it takes effect, so that a supervisor can be killed at any
 * moment; the loops have supervisors of their own and go on without it.
 */
#ifndef BATCH_BATCH_DRIVE_H
#define BATCH_BATCH_DRIVE_H

/*
 * Runs the batch in this folder until it ends, pauses or cannot continue. farewell: the descriptor
 * on which to announce a deliberate exit (loop/supervise/keeper.h). Returns the exit status of the
 * process.
 */
int batch_drive_run(const char *folder, int farewell);

#endif
