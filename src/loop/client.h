/*
 * What others do with loops: make and start them, look at them, and ask for something. Whoever looks reads
 * the journal; whoever asks talks to the supervisor, or, where there is none, holds its lock and writes
 * the event in its place.
 */
#ifndef LOOP_CLIENT_H
#define LOOP_CLIENT_H

#include "loop/state/loop_state.h"
#include "loop/state/spec_json.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>

struct client_loop {
	char *id;
	char *folder;
	struct loop_state state;
	bool alive;    /* there is a supervisor */
	bool damaged;  /* the journal cannot be read; nothing but trouble is known */
	char *trouble; /* why it cannot go on, in a sentence; NULL: nothing is known of any */
};

struct client_loops {
	struct client_loop *items; /* the oldest first */
	size_t count;
};

/* All loops below a state folder. Returns 0, or -1 with err set. */
int client_list(const char *state, struct client_loops *ret_loops, struct error *err);
void client_loops_release(struct client_loops *loops);

/* The loop with this id; without one, the newest of this project. Returns 0, or -1 with err set. */
int client_find(const char *state, const char *id, const char *project,
		struct client_loop *ret_loop, struct error *err);
void client_loop_release(struct client_loop *loop);

/* Reads it again. */
void client_look(struct client_loop *loop);

/* Is it a loop of this project, there or in a work tree of its own? */
bool client_is_of(const struct client_loop *loop, const char *project);

/* An id for a loop to come, which is the caller's. NULL with err set. */
char *client_reserve(const char *state, struct error *err);
void client_give_back(const char *state, const char *id);

/* Makes a loop with this configuration (see loop_state.h) and starts it; refused while another one of the
 * project is running. id: one that was reserved, or NULL. Returns 0, or -1 with err set. */
int client_create(const char *state, const char *id, json_t *config, struct client_loop *ret_loop,
		  struct error *err);

/* Goes on with a loop that is paused, interrupted or ended. changes: limits, as the configuration names
 * them; may be empty. Returns 0, or -1 with err set. */
int client_resume(const char *state, struct client_loop *loop, json_t *changes, struct error *err);

/* Asks for "pause", "abort" or "reset" (of the breakers). Returns 0 when it is written down, or -1 with err
 * set. */
int client_ask(struct client_loop *loop, const char *wish, bool now, struct error *err);

/* Is a loop of this project running? Then its id, which is the caller's; else NULL. */
char *client_running(const char *state, const char *project);

/* Keeps a supervisor from beginning, as long as the descriptor is open. Returns it, or -1 with err set. */
int client_hold(const struct client_loop *loop, struct error *err);

/* Writes down that a person is about to bring the project back; the loop is held. Takes the data
 * over. Returns 0, or -1 with err set. */
int client_restoring(const struct client_loop *loop, json_t *data, struct error *err);

/* Writes down that a person has brought the project back; the loop is held. Takes the data over. Returns 0, or -1
 * with err set. */
int client_restored(const struct client_loop *loop, json_t *data, struct error *err);

/* Removes a loop that is held, with its journal and its logs, and tells how much that frees; its checkpoints are
 * the caller's affair. Returns 0, or -1 with err set. */
int client_remove(const char *state, const struct client_loop *loop, uint64_t *ret_bytes,
		  struct error *err);

/* Where loops have work trees of their own, each below its id; the caller frees. */
char *client_work_trees(const char *state);

/* Removes a folder of ours, if it is there, whatever is in it, and adds what that frees. Returns 0, or -1 with err set. */
int client_remove_folder(const char *path, uint64_t *bytes, struct error *err);

/* The first line of the objective, cut to what the subject of a commit should be. The caller frees. */
char *client_subject(const struct loop_options *options);

/* Commits what a loop with a work tree of its own has left uncommitted there; of others nothing. The loop is held.
 * Returns 0, or -1 with err set. */
int client_seal(const struct client_loop *loop, struct error *err);

/* Is so much left on the disk of a path? Then NULL; else a sentence with what helps, which is the caller's. */
char *client_room(const char *path, int64_t least_bytes);

/* Waits until no supervisor is there. False if it takes longer. */
bool client_wait_gone(const struct client_loop *loop, int64_t most_ms);

/* The first prompt of a loop with this configuration; whether it gets a private git directory is decided when it begins, and
 * here by the caller. Returns 0, or -1 with err set. */
int client_preview(json_t *config, bool private_git, struct buffer *ret_prompt, struct error *err);

/* Foreign text as JSON: what is no UTF-8 is replaced. The caller owns it. */
json_t *client_text(const char *text);

/* As it is shown to programs; the caller owns it. */
json_t *client_json(const struct client_loop *loop);

/* Its state in a word, and why; NULL if there is nothing to say. The caller frees the latter. */
const char *client_status(const struct client_loop *loop);
char *client_reason(const struct client_loop *loop);

/* Events behind `after`; see journal.h. */
int client_events(const struct client_loop *loop, int64_t after, journal_fn *take, void *context,
		  struct error *err);

#endif
