/*
 * Where files wait, whole, on their way back into a project: a folder at its root, on the same file system,
 * from where they are moved into their places.
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

/* Makes the folder, empty. Returns 0, or -1 with err set. */
int restore_stage_open(int project, struct restore_stage *ret_stage, struct error *err);

/* Writes a file or a link of a checkpoint, with its mode; node->staged is its number. Returns 0, or -1 with
 * err set. */
int restore_stage_write(struct restore_stage *stage, struct checkpoint_repo *repo,
			struct node *node, struct error *err);

/* Waits until all of it is on the disk. */
int restore_stage_sync(const struct restore_stage *stage, struct error *err);

/* Puts a staged file at its place, instead of what is there; of a group of links each name comes from the
 * same one. Returns 0, or -1 with errno. */
int restore_stage_place(const struct restore_stage *stage, const struct node *node, int folder);

/* Moves one by its number between the stage and a folder; flags: of renameat2(). Returns 0, or -1 with errno. */
int restore_stage_move(const struct restore_stage *stage, const struct node *node, int folder,
		       unsigned int flags);

/* What is in the stage under its number. */
int restore_stage_look(const struct restore_stage *stage, const struct node *node,
		       struct stat *ret_status);

/* Removes the folder with what is left in it. */
void restore_stage_close(struct restore_stage *stage);

/* The bytes of a file or link, in order. Returns 0, or -1 with err set. */
typedef int restore_stage_fn(void *context, const void *bytes, size_t size, uint64_t offset,
			     struct error *err);
int restore_stage_read(struct checkpoint_repo *repo, const struct node *node,
		       restore_stage_fn *take, void *context, struct error *err);

#endif
