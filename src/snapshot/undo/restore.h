/*
 * Restores a project, or a part, to a checkpoint.
 *
 * Missing files are first written completely to a staging folder at the root of the project; until
 * that is done nothing else in the project changes, so a full disk does no harm. Then they are
 * moved into place, extra files are removed, and the result is scanned and verified. A file in the
 * repository records the operation: if this process is killed, the next one completes it before
 * doing anything else.
 *
 * Ignored files, skipped files and the project's .git are never touched. Files are replaced, not
 * overwritten: other hard links to them keep their content.
 */
#ifndef SNAPSHOT_UNDO_RESTORE_H
#define SNAPSHOT_UNDO_RESTORE_H

#include "snapshot/look/look.h"
#include "util/list.h"

/* The file in the repository that records an operation. */
#define RESTORE_NOTE "undo"

struct restore_result {
	uint64_t written, removed,
		adjusted; /* files, links and folders; adjusted: only the mode changed */
	struct list kept; /* folders kept because they hold ignored files */
};

/* The wanted state of a project. */
struct restore_target {
	const git_oid *tree; /* of a checkpoint */
	const char *path;    /* restore only this; "" for everything */
	/* A prepared checkpoint of the loop (look/save.h), or NULL. It gets its number once the
	 * operation is certain to be completed, and not if it fails before that. */
	const struct checkpoint_repo_item *record;
};

/*
 * Makes the project match the target. present: a scan that has just been taken and finished. The
 * caller holds the lock. Returns 0, or -1 with err set.
 */
int restore_project(struct checkpoint_repo *repo, const struct look_options *options,
		    struct look *present, const struct restore_target *target,
		    struct restore_result *ret_result, struct error *err);

/*
 * As restore_project(), for some paths, at least one. If this is interrupted, nobody completes it:
 * the caller finds the rest again.
 */
int restore_files(struct checkpoint_repo *repo, const struct look_options *options,
		  struct look *present, const git_oid *tree, const struct list *paths,
		  struct restore_result *ret_result, struct error *err);

/*
 * Completes an interrupted operation; *ret_done tells whether there was one. Returns 0, or -1 with
 * err set.
 */
int restore_recover(struct checkpoint_repo *repo, const struct look_options *options,
		    bool *ret_done, struct error *err);

/* Reports whether an operation is in progress or was interrupted. */
bool restore_pending(const struct checkpoint_repo *repo);

#endif
