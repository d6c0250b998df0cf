/*
 * The changes of a draft, folder by folder.
 *
 * A view shows them together with a project that others may change meanwhile, or with a copy of the
 * project. This tells which entries of a view are the draft's own.
 */
#ifndef DRAFT_DRAFT_LAYER_H
#define DRAFT_DRAFT_LAYER_H

#include "draft/draft_kind.h"
#include "util/error.h"

/* Opens a draft to see its changes. Returns 0, or -1 with err set. The caller releases the root in
 * both cases, and does not move it before. */
int draft_layer_open(const char *folder, struct draft_layer_root *ret_root, struct error *err);
void draft_layer_release(struct draft_layer_root *root);

/* Returns the path in the project of an empty file or folder whose content is not in the draft,
 * although no command removed it, or NULL. It is known by its inode, wherever it was moved to, or
 * by its path, if it was restored. */
const char *draft_layer_emptied(const struct draft_layer *at, uint64_t inode, const char *path);

/* Reports whether the content of this path of the project was left out of the draft. */
bool draft_layer_left_out(const struct draft_layer *at, const char *path);

/* Returns the i-th name that a folder of a copy had when it was copied, or NULL after the last one.
 * Those that are missing were removed; an overlay has marks for them instead. */
const char *draft_layer_copied(const struct draft_layer *at, size_t i);

/* Reports about an entry of a folder, also one that does not exist any more. If it is
 * DRAFT_LAYER_FOLDER, *ret_inner has a descriptor that the caller closes; otherwise -1. */
enum draft_layer_state draft_layer_enter(const struct draft_layer *at, const char *name,
					 struct draft_layer *ret_inner);

#endif
