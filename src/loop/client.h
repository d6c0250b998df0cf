/*
 * Creates, starts, inspects and controls loops, for commands and other processes. Inspecting reads
 * the journal. Requests go to the supervisor; if none is running, the client holds its lock and
 * writes the event itself.
 */
#ifndef LOOP_CLIENT_H
#define LOOP_CLIENT_H

#include "loop/run/prompt.h"
#include "loop/state/loop_state.h"
#include "loop/state/spec_json.h"
#include "loop/supervise/control.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct client_loop {
	char *id;
	char *folder;
	struct loop_state state;
	struct journal_mark read; /* the events that the state is made of */
	bool alive;      /* a supervisor is running, or about to be started by the keeper */
	bool restarting; /* about to be started */
	bool damaged;    /* the journal cannot be read; only trouble is set */
	char *trouble;   /* why it cannot continue, or NULL */
	/* Why its journal can only be read ("its disk is full"), or NULL. */
	const char *unwritable;
};

struct client_loops {
	struct client_loop *items; /* oldest first */
	size_t count;
	size_t unread; /* that have ended and are older than the newest of the query */
};

struct client_query {
	/* Only loops of this project, and those whose project cannot be read; NULL: all. */
	const char *project;
	int64_t until_ms; /* only loops that were created by then; 0: all */
	/* Loops that have ended are read only if they are among this many of the newest. */
	size_t newest;
	/* Leaves out the loops of batches for which this returns true; or NULL. */
	bool (*folds)(void *context, const char *batch);
	void *context;
};

#define CLIENT_ALL SIZE_MAX

/*
 * Lists the loops in a state folder. A loop that has ended is read only if it is wanted, see
 * loop_index.h. Returns 0, or -1 with err set.
 */
int client_list(const char *state, const struct client_query *query, struct client_loops *ret_loops,
		struct error *err);
void client_loops_release(struct client_loops *loops);

/*
 * Calls the function for each loop, whose folder is `id` in `loops`, without reading those that
 * have ended. `line` is what it said about a loop that has not changed since, in the index with
 * this name (see loop_index.h), or NULL. It may set *ret_line, which is then freed here; only a
 * loop that has ended keeps it. Returns 0, or -1 with err set, also by the function.
 */
typedef int client_each_fn(void *context, const char *loops, const char *id, const char *line,
			   char **ret_line, struct error *err);
int client_each(const char *state, const char *index_name, client_each_fn *act, void *context,
		struct error *err);

/*
 * Finds the loop with this id, or the newest one of this project if id is NULL. Returns 0, or -1
 * with err set.
 */
int client_find(const char *state, const char *id, const char *project,
		struct client_loop *ret_loop, struct error *err);
void client_loop_release(struct client_loop *loop);

/*
 * Adds the ids of the loops that a person may mean by a word: the newest loop of the project with
 * this name, or else the loops whose id it abbreviates (util/id.h), of the project if there are
 * any, else of all. Returns 0, or -1 with err set.
 */
int client_match(const char *state, const char *project, const char *word, struct list *ids,
		 struct error *err);

/* Adds the names and ids of at most so many loops of the project, the newest first. Returns 0, or
 * -1 with err set. */
int client_words(const char *state, const char *project, size_t most, struct list *words,
		 struct error *err);

/* Reads the loop again. */
void client_refresh(struct client_loop *loop);

/* Does the loop belong to this project, either there or in its own work tree? */
bool client_is_of(const struct client_loop *loop, const char *project);

/* Reserves an id for a new loop, which the caller frees. Returns NULL with err set on failure. */
char *client_reserve(const char *state, struct error *err);
void client_release_id(const char *state, const char *id);

/* Reserves this id for a new loop; it may be reserved already. Returns a copy, which the caller
 * frees, or NULL with err set: ERROR_EXISTS if there is such a loop, ERROR_INVALID if it cannot be
 * the id of one. */
char *client_reserve_id(const char *state, const char *id, struct error *err);

/*
 * Creates a loop with this configuration (see loop_state.h) and starts it; refused while another
 * loop writes to the project, unless this one works on a draft. id: a reserved one, or NULL.
 * Returns 0, or -1 with err set.
 */
int client_create(const char *state, const char *id, json_t *config, struct client_loop *ret_loop,
		  struct error *err);

/*
 * Resumes a loop that is paused, interrupted or ended. changes: limits, with the configuration's
 * keys; may be empty. told: a cleaned message for its agent, or NULL. Returns 0, or -1 with err
 * set; if the loop cannot continue, nothing is recorded.
 */
int client_resume(const char *state, struct client_loop *loop, json_t *changes, const char *told,
		  struct error *err);

/*
 * Requests a pause, an abort or a reset of the breakers. Returns 0 once the request is recorded, or
 * -1 with err set.
 */
int client_ask(struct client_loop *loop, enum control_request request, bool now, struct error *err);

/*
 * Tells the agent something in its next prompt; the text is cleaned (decision/told.h). now: an
 * agent that runs is stopped, and its iteration begins again. Returns 0 once the message is
 * recorded, or -1 with err set: ERROR_REFUSED if no agent would read it.
 */
int client_tell(struct client_loop *loop, const char *text, bool now, struct error *err);

/* Changes what a loop may cost in all; an agent that can spend more is stopped, and its iteration
 * begins again. Returns 0 once that is recorded, or -1 with err set. */
int client_limit(struct client_loop *loop, int64_t most_nusd, struct error *err);

/* Returns the id of a running loop that writes to this project itself, not to a draft, or NULL. The
 * caller frees the id. */
char *client_running(const char *state, const char *project);

/*
 * Prevents a supervisor from starting while the descriptor is open. Returns it, or -1 with err set.
 */
int client_hold(const struct client_loop *loop, struct error *err);

/*
 * Records that the user is about to restore the project. The loop must be held. Consumes the data.
 * Returns 0, or -1 with err set.
 */
int client_restoring(const struct client_loop *loop, json_t *data, struct error *err);

/*
 * Records that the user has restored the project. The loop must be held. Consumes the data. Returns
 * 0, or -1 with err set.
 */
int client_restored(const struct client_loop *loop, json_t *data, struct error *err);

/*
 * Removes a loop with its journal and its logs, but not its checkpoints, and returns the freed
 * bytes. The loop must be held. Returns 0, or -1 with err set.
 */
int client_remove(const char *state, const struct client_loop *loop, uint64_t *ret_bytes,
		  struct error *err);

/* Removes the draft of a loop, if it is there; checkpoints and commits stay. The loop must be held.
 * Returns 0, or -1 with err set. */
int client_remove_draft(const struct client_loop *loop, struct error *err);

/*
 * Returns the folder that holds the work trees of loops, each named by its id. The caller frees it.
 */
char *client_work_trees(const char *state);

/*
 * Removes a folder of Ringfence with all contents, if it exists, and adds the freed bytes. Returns
 * 0, or -1 with err set.
 */
int client_remove_folder(const char *path, uint64_t *bytes, struct error *err);

/*
 * Returns the first line of the objective, cut to the length of a commit subject. The caller frees
 * it.
 */
char *client_subject(const struct loop_options *options);

/* Commits in the branch of a loop on a draft, which has ended, what was restored in the draft
 * since, and reads the loop again. Does nothing if there is no such branch, or the loop goes on.
 * Returns 0, or -1 with the reason in err; the branch is then as it was. */
int client_update_branch(struct client_loop *loop, struct error *err);

/*
 * Commits what a loop left uncommitted in its own work tree; does nothing for other loops. The loop
 * must be held. Returns 0, or -1 with err set.
 */
int client_commit_leftovers(const struct client_loop *loop, struct error *err);

/*
 * Returns NULL if this much space is free on the disk of a path, or a message with advice, which
 * the caller frees.
 */
char *client_room(const char *path, int64_t least_bytes);

/* Waits until no supervisor is running. Returns false on timeout. */
bool client_wait_gone(const struct client_loop *loop, int64_t most_ms);

/*
 * Writes the first prompt of a loop with this configuration. The caller decides whether it has a
 * private git directory, which a real loop decides when it starts. Returns 0, or -1 with err set.
 */
int client_preview(json_t *config, bool private_git, struct prompt *ret_prompt, struct error *err);

/* Writes the next prompt of a loop whose journal could be read. The caller releases it. */
void client_prompt(const struct client_loop *loop, struct prompt *ret_prompt);

/* Returns untrusted text as JSON, with invalid UTF-8 replaced. The caller owns it. */
json_t *client_text(const char *text);

/* Returns the loop as JSON for other programs. The caller owns it. */
json_t *client_json(const struct client_loop *loop);

/* Adds the paths that the agents of a loop have changed, and those of the loops that it has merged.
 * Returns 0, or -1 with err set. */
int client_changed_paths(const char *state, const struct client_loop *loop, struct list *paths,
			 struct error *err);

/* Returns the supervisor's last heartbeat in ms since the epoch, or 0 if there is none or it is
 * unknown. */
int64_t client_heartbeat_ms(const struct client_loop *loop);

/* Returns how the loop ended, as an object that the caller owns, or NULL if it cannot be read
 * (loop/state/loop_outcome.h). */
json_t *client_outcome(const struct client_loop *loop);

/* The status in one word, and the reason or NULL. The caller frees the reason. */
const char *client_status(const struct client_loop *loop);
char *client_reason(const struct client_loop *loop);

/* Passes the events after `after` to the function; see journal.h. */
int client_events(const struct client_loop *loop, int64_t after, journal_fn *take, void *context,
		  struct error *err);

/* Passes the events after the mark to the function, and moves the mark; see journal.h. */
int client_follow(const struct client_loop *loop, struct journal_mark *mark, journal_fn *take,
		  void *context, struct error *err);

#endif
