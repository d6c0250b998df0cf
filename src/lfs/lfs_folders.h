/*
 * Which files of a tree are in Git LFS, by the .gitattributes of their folders. Files are read when
 * they are needed; paths are best asked for in the order of a walk, folder by folder.
 */
#ifndef LFS_LFS_FOLDERS_H
#define LFS_LFS_FOLDERS_H

#include "util/buffer.h"

#include <stdbool.h>

/* Reads the .gitattributes of a folder ("" is the topmost). Returns 0, or -1 if there is none. */
typedef int lfs_folders_fn(void *context, const char *folder, struct buffer *text);

struct lfs_folders;

/* user: the attributes that take precedence (info/attributes), or NULL. */
struct lfs_folders *lfs_folders_new(lfs_folders_fn *read, void *context, const struct buffer *user);
void lfs_folders_free(struct lfs_folders *folders);

bool lfs_folders_has(struct lfs_folders *folders, const char *path);

#endif
