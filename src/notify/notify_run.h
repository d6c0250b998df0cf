/*
 * The notifier: the process that tells people what happens in a loop or a batch.
 *
 * It follows the journal from a durable mark (notify_record.h) and ends when the loop rests and
 * everything is delivered or given up. It writes a log to notify.log in the folder.
 */
#ifndef NOTIFY_NOTIFY_RUN_H
#define NOTIFY_NOTIFY_RUN_H

/* The main function (`ringfence notifier FOLDER`). Returns the exit status. */
int notify_run(const char *folder);

#endif
