/*
 * The staging folder of a restore: complete files wait at the root of the project, on the same file
 * system, to be renamed into place.
 */
#ifndef SNAPSHOT_UNDO_RESTORE_STAGE_H
#define SNAPSHOT_UNDO_RESTORE_STAGE_H

#include "snapshot/store/checkpoint_repo.h"

#include <sys/stat.h>

struct restore_stage {
	int project;
	int folder;
	uint32_t count;
};

/* Creates the empty folder. Returns 0, or -1 with err set. */
int restore_stage_open(int project, struct restore_stage *ret_stage, struct error *err);

/*
 * Writes a file or symlink of a checkpoint, with its mode, and sets node->staged to its number.
 * Returns 0, or -1 with err set.
 */
int restore_stage_write(struct restore_stage *stage, struct checkpoint_repo *repo,
			struct node *node, struct error *err);

/*
 * The same for the content of an open file. Returns 0, or -1 with err set.
 */
int restore_stage_copy(struct restore_stage *stage, int from, struct node *node, struct error *err);

/* Waits until all staged files are on disk. Returns 0, or -1 with err set. */
int restore_stage_sync(const struct restore_stage *stage, struct error *err);

/*
 * Renames a staged file into place, replacing an existing one. All names of a group of hard links
 * are linked to the same staged file. Returns 0, or -1 with errno set.
 */
int restore_stage_place(const struct restore_stage *stage, const struct node *node, int folder);

/*
 * Moves a file by its number between the stage and a folder, with flags of renameat2(). Returns 0,
 * or -1 with errno set.
 */
int restore_stage_move(const struct restore_stage *stage, const struct node *node, int folder,
		       unsigned int flags);

/* Stats the staged file of a node. */
int restore_stage_stat(const struct restore_stage *stage, const struct node *node,
		       struct stat *ret_status);

/* Removes the folder and everything in it. */
void restore_stage_close(struct restore_stage *stage);

/* Passes the bytes of a file or symlink to `take`, in order. Returns 0, or -1 with err set. */
typedef int restore_stage_fn(void *context, const void *bytes, size_t size, uint64_t offset,
			     struct error *err);
int restore_stage_read(struct checkpoint_repo *repo, const struct node *node,
		       restore_stage_fn *take, void *context, struct error *err);

#endif
