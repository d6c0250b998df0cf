/*
 * The folder of a loop: STATE/loops/ID/, out of reach of every project.
 *
 *	journal.db		every decision (journal/journal.h)
 *	state.json		the current state, for people and jq; replaced atomically
 *	lock			held by the supervisor; the kernel releases it with the process
 *	kept			locked by the keeper; it restarts a supervisor that is killed
 *	control			the supervisor's socket
 *	.reserve		space for an error message when the disk is full
 *	supervisor.log		messages of supervisor and keeper
 *	trouble.txt		why the supervisor could not continue (loop_report.h)
 *	git/, git-own/		the agent's private git directory (snapshot/git/private_git.h)
 *	draft/			the changes of a loop that works on a draft (draft/draft.h)
 *	view/			where checks run; removed afterwards (loop/run/verification.h)
 *	iterations/N/		prompt.md, stdout.log, stderr.log, before.json, after.json,
 *				analysis.json; after an interruption, the next attempt is N.2/
 */
#ifndef LOOP_STATE_LOOP_FOLDER_H
#define LOOP_STATE_LOOP_FOLDER_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

/* Returns STATE/loops, which is created if needed, or NULL with err set. The caller frees it. */
char *loop_folder_loops(const char *state, struct error *err);

/*
 * Creates the folder of a new loop. The caller frees both outputs. Returns 0, or -1 with err set.
 */
int loop_folder_new(const char *loops, char **ret_id, char **ret_folder, struct error *err);

/* Creates the folder of a new loop with this id, unless it exists without a loop in it. Returns 0,
 * or -1 with err set. */
int loop_folder_claim(const char *loops, const char *id, struct error *err);

/* Returns the STATE that contains the folder of a loop. The caller frees it. */
char *loop_folder_state(const char *folder);

/* Lists the ids of all loops, sorted. Returns 0, or -1 with err set. */
int loop_folder_list(const char *loops, struct list *ret_ids, struct error *err);

/* Returns the folder of an attempt at an iteration. The caller frees it. */
char *loop_folder_iteration(const char *folder, unsigned int iteration, unsigned int attempt);

/*
 * Locks a loop's folder for this process. Returns the descriptor, or -1 with err set; the status is
 * ERROR_BUSY if another process holds the lock.
 */
int loop_folder_lock(const char *folder, struct error *err);

/* The same for a supervisor: the processes of one that was killed may hold the lock for a moment,
 * for which it waits. */
int loop_folder_await_lock(const char *folder, struct error *err);

/* Is a supervisor running? */
bool loop_folder_is_locked(const char *folder);

/*
 * Shows that a keeper is there, until the descriptor is closed; several may be for a moment.
 * Returns the descriptor, or -1 if that is impossible.
 */
int loop_folder_keep(const char *folder);

/* Is there a keeper? */
bool loop_folder_is_kept(const char *folder);

/* Replaces a file atomically: readers see the old or the new one, even after a crash. */
int loop_folder_write(const char *folder, const char *name, const char *text, size_t size,
		      struct error *err);

#endif
