/*
 * Creates, starts, inspects and controls batches, for commands. Inspecting reads the journal.
 * Requests go to the supervisor; if none is running, the client holds its lock, writes the event
 * itself, and starts one.
 */
#ifndef BATCH_BATCH_CLIENT_H
#define BATCH_BATCH_CLIENT_H

#include "batch/batch_state.h"
#include "journal/journal.h"
#include "util/error.h"

#include <jansson.h>
#include <stdbool.h>

struct batch_client {
	char *id;
	char *folder;
	struct batch_state state;
	struct journal_mark read; /* the events that the state is made of */
	bool alive;               /* a supervisor is running, or a keeper is about to start one */
	char *trouble;            /* why it cannot be read or cannot continue, or NULL */
	bool damaged;             /* the journal cannot be read */
};

struct batch_clients {
	struct batch_client *items; /* oldest first */
	size_t count;
};

/*
 * Creates a batch with this configuration and starts it:
 *
 *	project		the real path
 *	lists		the user's lists, each with its `name` and `path`
 *	templates	configurations of loops (loop/state/loop_state.h)
 *	tasks		items (worklist/worklist.h), each with the number of its `template`;
 *			candidates of a task follow each other, with its id as their `race`
 *	draft		kind and most_bytes of the loops' drafts
 *	compare		whether a person picks among the candidates
 *	keep_drafts	whether the drafts of tasks that are done are kept
 *	jobs, rounds, max_cost_nusd
 *
 * Returns 0 with *ret_batch, which the caller releases, or -1 with err set.
 */
int batch_client_create(const char *state, json_t *config, struct batch_client *ret_batch,
			struct error *err);

/* Finds the batch with this id, or the newest one of the project if id is NULL. Returns 0, or -1
 * with err set: ERROR_NOT_FOUND. */
int batch_client_find(const char *state, const char *id, const char *project,
		      struct batch_client *ret_batch, struct error *err);

/* Reads all batches. Returns 0, or -1 with err set. */
int batch_client_list(const char *state, struct batch_clients *ret_batches, struct error *err);

void batch_client_release(struct batch_client *batch);
void batch_clients_release(struct batch_clients *batches);

/* Reads the batch again. */
void batch_client_refresh(struct batch_client *batch);

/* Requests "pause" or "abort", or, for a task, "retry" or "pick". Returns 0 once the request is
 * recorded, or -1 with err set. */
int batch_client_ask(struct batch_client *batch, const char *wish, const char *task,
		     struct error *err);

/* Continues a batch that has paused, ended or was interrupted, with these limits (may be empty).
 * Returns 0, or -1 with err set. */
int batch_client_resume(struct batch_client *batch, json_t *changes, struct error *err);

/* Returns the status in one word: running, paused, interrupted, completed, failed or aborted. */
const char *batch_client_status(const struct batch_client *batch);

/* Passes the events after the mark to the function, and moves the mark; see journal.h. */
int batch_client_follow(const struct batch_client *batch, struct journal_mark *mark,
			journal_fn *take, void *context, struct error *err);

#endif
