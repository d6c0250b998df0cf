/*
 * Starts the notifier of a loop or a batch: a process of its own (notify_run.h), so that nothing
 * waits for a server.
 */
#ifndef NOTIFY_NOTIFY_START_H
#define NOTIFY_NOTIFY_START_H

/*
 * Starts one unless it is there. Cheap if it is: supervisors call it when they start, and with each
 * heartbeat. A failure is reported to stderr, which is the supervisor's log.
 */
void notify_start(const char *folder);

/* Starts those of all loops and batches in the state folder that were ended before they were done.
 * Returns how many. */
int notify_start_pending(const char *state);

/* Locks the folder for a notifier. Returns the descriptor, or -1 if there is one already. */
int notify_start_lock(const char *folder);

#endif
