/*
 * Checkpoints of a loop: before its first act, around each iteration, and every so often within one. They are
 * taken by a process of their own (snapshot.h), so that the supervisor goes on answering; each new one is an
 * event. One that cannot be taken is named, and no agent is started without one.
 */
#ifndef LOOP_RUN_LOOP_CHECKPOINT_H
#define LOOP_RUN_LOOP_CHECKPOINT_H

#include "loop/supervise/supervisor.h"

/* Takes one now, unless the latest is of this moment, and waits for it. Returns 0; *ret_failed, the caller's,
 * is the reason if there is none now. Or -1 with err set: the supervisor cannot go on. */
int loop_checkpoint_take(struct supervisor *sup, const char *kind, uint32_t iteration,
			 char **ret_failed, struct error *err);

/* Other work of ringfence-snapshot on this loop ("git-open", "git-import"), waited for as a checkpoint is. Gives its answer,
 * or why it failed, both the caller's, or neither: the supervisor is leaving. */
void loop_checkpoint_ask(struct supervisor *sup, const char *name, json_t **ret_answer,
			 char **ret_failed);

/* Has the supervisor take one every so often while an agent works, and know when one is there. */
void loop_checkpoint_watch(struct supervisor *sup);

/* A run in the fence begins, or has ended: one that is under way then is not waited for. */
void loop_checkpoint_run_begins(struct supervisor *sup);
void loop_checkpoint_run_ended(struct supervisor *sup);

#endif
