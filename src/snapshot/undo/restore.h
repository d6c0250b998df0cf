/*
 * Brings a project back to a checkpoint, or a part of it.
 *
 * What is missing is first written, whole, into a folder at the project's root; until then nothing else of the
 * project is touched, and a full disk harms nobody. Then it is moved into its places, what should not be
 * there is removed, and the result is looked at and compared. A file in the repository says what is under way:
 * if this process is killed, the next one finishes it before it does anything else.
 *
 * What the rules ignore, what was skipped, and the project's .git are never touched. Files are replaced, not
 * written over: whoever has another name for one keeps what they have.
 */
#ifndef SNAPSHOT_UNDO_RESTORE_H
#define SNAPSHOT_UNDO_RESTORE_H

#include "snapshot/look/look.h"
#include "util/list.h"

/* The file in the repository. */
#define RESTORE_NOTE "undo"

struct restore_result {
	uint64_t written, removed, adjusted; /* files, links and folders; adjusted: modes only */
	struct list kept; /* folders that stay because of what is ignored in them */
};

/* Makes the project what the tree of a checkpoint says; with a path, only there. present: the look that
 * has just been taken and finished. The lock is held. Returns 0, or -1 with err set. */
int restore_project(struct checkpoint_repo *repo, const struct look_options *options,
		    struct look *present, const git_oid *tree, const char *path,
		    struct restore_result *ret_result, struct error *err);

/* Finishes what was cut off. *ret_done says if there was something. Returns 0, or -1 with err set. */
int restore_recover(struct checkpoint_repo *repo, const struct look_options *options,
		    bool *ret_done, struct error *err);

/* Is something under way? */
bool restore_pending(const struct checkpoint_repo *repo);

#endif
