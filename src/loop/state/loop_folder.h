/*
 * Where a loop keeps its things: STATE/loops/ID/, out of every project's reach.
 *
 *	journal.db		what was decided (store.h)
 *	state.json		the present state, for people and jq; replaced as a whole
 *	lock			held by the supervisor; the kernel drops it with the process
 *	control			the supervisor's socket
 *	.reserve		room for a sentence when the disk is full
 *	supervisor.log		what supervisor and keeper had to say
 *	git/, git-own/		the private git directory of the agent (snapshot/git/private_git.h)
 *	iterations/N/		prompt.md, stdout.log, stderr.log, before.json, after.json, analysis.json;
 *				a try after an interrupted one has its number behind a dot: N.2/
 */
#ifndef LOOP_STATE_LOOP_FOLDER_H
#define LOOP_STATE_LOOP_FOLDER_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

/* STATE/loops, made if need be; the caller frees. NULL with err set. */
char *loop_folder_loops(const char *state, struct error *err);

/* Makes the folder of a new loop; both are the caller's. Returns 0, or -1 with err set. */
int loop_folder_new(const char *loops, char **ret_id, char **ret_folder, struct error *err);

/* STATE, in which the folder of a loop is; the caller frees. */
char *loop_folder_state(const char *folder);

/* The ids of all loops, sorted. Returns 0, or -1 with err set. */
int loop_folder_list(const char *loops, struct list *ret_ids, struct error *err);

/* The folder of an iteration, by its number and the try; the caller frees. */
char *loop_folder_iteration(const char *folder, unsigned int iteration, unsigned int attempt);

/* Locks a loop's folder for this process. Returns the descriptor, or -1 with err set; its
 * status is ERROR_BUSY if another process has it. */
int loop_folder_lock(const char *folder, struct error *err);

/* Is there a supervisor? */
bool loop_folder_is_locked(const char *folder);

/* Replaces a file as a whole: it is the old one or the new one, whatever is killed when. */
int loop_folder_write(const char *folder, const char *name, const char *text, size_t size,
		      struct error *err);

#endif
