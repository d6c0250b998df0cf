/*
 * Checkpoints of a loop: at its start, around each iteration, and periodically within one. A
 * separate process takes them (snapshot.h), so that the supervisor keeps answering; each new one is
 * an event. A failure is reported, and no agent starts without a checkpoint. A process that dies is
 * started again (retry.h).
 */
#ifndef LOOP_RUN_LOOP_CHECKPOINT_H
#define LOOP_RUN_LOOP_CHECKPOINT_H

#include "loop/supervise/supervisor.h"
#include "util/buffer.h"

/*
 * Takes a checkpoint and waits for it, unless the latest one is current. The work of an iteration
 * is on disk after that, even if checkpoints are off. Returns 0, with the reason in *ret_failed,
 * which the caller frees, if it failed; or -1 with err set if the supervisor cannot continue.
 */
int loop_checkpoint_take(struct supervisor *sup, const char *kind, uint32_t iteration,
			 char **ret_failed, struct error *err);

/*
 * Runs other work of ringfence-snapshot on this loop ("git-open", "git-import") and waits for it.
 * hidden: paths in the project that the fence hides, or NULL.
 * Returns 0 with its answer, or why it failed; the caller owns both. Neither is set if the
 * supervisor is leaving. Returns -1 with err set if the supervisor cannot continue.
 */
int loop_checkpoint_ask(struct supervisor *sup, const char *name, const struct list *hidden,
			json_t **ret_answer, char **ret_failed, struct error *err);

/* Compares the latest checkpoint with the first one: signs that the changes weaken the checks.
 * pinned: an empty folder for the pinned files that differ, or NULL. Answer and result: as before.
 */
int loop_checkpoint_examine(struct supervisor *sup, const char *pinned, json_t **ret_answer,
			    char **ret_failed, struct error *err);

/* Writes all source code of the first checkpoint, broken (snapshot/undo/broken.h), to an empty
 * folder. Answer and result: as before. */
int loop_checkpoint_break(struct supervisor *sup, const char *folder, json_t **ret_answer,
			  char **ret_failed, struct error *err);

/* Writes a mutant of the changes since the first checkpoint to an empty folder: the one at
 * `index` in the list of at most `most`. Answer and result: as before. */
struct loop_checkpoint_mutant {
	uint32_t most, index;
	const char *folder;
};
int loop_checkpoint_mutate(struct supervisor *sup, const struct loop_checkpoint_mutant *mutant,
			   json_t **ret_answer, char **ret_failed, struct error *err);

/* Takes back what a check has changed in pinned files, in the views of a round (verification.h).
 * Result: as above. */
int loop_checkpoint_settle(struct supervisor *sup, const char *views, char **ret_failed,
			   struct error *err);

/*
 * Reads the changes between the first checkpoint and the latest one as a patch. The caller releases
 * *ret_text, which is cut to most_bytes. Result: as above.
 */
int loop_checkpoint_diff(struct supervisor *sup, size_t most_bytes, struct buffer *ret_text,
			 char **ret_failed, struct error *err);

/*
 * Makes the supervisor take checkpoints periodically while an agent runs, and handle finished ones.
 */
void loop_checkpoint_watch(struct supervisor *sup);

/*
 * A run in the fence starts or has ended. A checkpoint that is still in progress at the end is
 * dropped.
 */
void loop_checkpoint_run_begins(struct supervisor *sup);
void loop_checkpoint_run_ended(struct supervisor *sup);

#endif
