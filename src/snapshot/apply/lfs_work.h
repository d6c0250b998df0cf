/*
 * Git LFS in the user's repository: which files of a tree, or of the work tree, are in LFS, and
 * their content. No program runs for it, and nothing is fetched: a pointer whose content is not in
 * the store stays a pointer, as git-lfs leaves it with GIT_LFS_SKIP_SMUDGE.
 */
#ifndef SNAPSHOT_APPLY_LFS_WORK_H
#define SNAPSHOT_APPLY_LFS_WORK_H

#include "lfs/lfs_pointer.h"
#include "snapshot/apply/user_repo.h"

struct lfs_work;

/*
 * Looks at a tree, or with NULL at the files of the work tree. The repository must outlive it. The
 * caller frees it.
 */
struct lfs_work *lfs_work_new(const struct user_repo *user, const git_oid *tree);
void lfs_work_free(struct lfs_work *work);

/* Reports whether this path is in LFS. */
bool lfs_work_has(struct lfs_work *work, const char *path);

/*
 * Reports whether this path is in LFS and the blob is a pointer whose content is in the store.
 * The caller frees *ret_pointer, which is NULL otherwise.
 */
bool lfs_work_pointer(struct lfs_work *work, const char *path, const git_oid *blob,
		      struct lfs_pointer **ret_pointer);

/* Reads the pointer in a blob. Returns whether it is one. */
bool lfs_work_read(git_repository *repository, const git_oid *blob,
		   struct lfs_pointer *ret_pointer);

/* Opens the content of a pointer. Returns the descriptor, or -1 with errno set. */
int lfs_work_open(const struct user_repo *user, const struct lfs_pointer *pointer);

/* Reports whether a file has the content of a pointer. Reads it only if the size agrees. */
bool lfs_work_matches(int fd, const struct lfs_pointer *pointer);

/*
 * Puts the content of a file into the store, and writes its pointer. A file that is a pointer, or
 * empty, becomes its own text. *ret_size is the length of the text. Returns 0, or -1 with err set.
 */
int lfs_work_clean(const struct user_repo *user, int fd, char ret_text[LFS_POINTER_BYTES],
		   size_t *ret_size, struct error *err);

#endif
