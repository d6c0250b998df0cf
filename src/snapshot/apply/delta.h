/*
 * The changes that turn a work tree and its index into another tree, and whether they can be made:
 * each path that changes must hold what was committed, or already its new content. Everything else
 * belongs to the user and is kept.
 */
#ifndef SNAPSHOT_APPLY_DELTA_H
#define SNAPSHOT_APPLY_DELTA_H

#include "lfs/lfs_pointer.h"
#include "snapshot/apply/user_repo.h"
#include "util/list.h"

#include <stdint.h>
#include <sys/stat.h>

enum { DELTA_MOST = 1000000, DELTA_TOLD = 20 };

/* A path before and after; mode 0 means that it does not exist. */
struct delta {
	char *path;
	git_oid old, new;
	uint32_t old_mode, new_mode;
	enum delta_place {
		DELTA_OLD,   /* has the committed content: must change */
		DELTA_NEW,   /* already has the new content */
		DELTA_OTHER, /* has other content of the user's */
		DELTA_APART, /* not in the work tree: sparse, or a submodule */
	} place,
		listed;   /* listed: the same for the index; OLD, NEW or OTHER */
	struct stat seen; /* the existing file; once placed: the new one */
	bool absent;
	uint32_t staged; /* see undo/restore_stage.h */
	/* For a file in Git LFS whose content is in the store; else NULL. The work tree has either
	 * the pointer or the content. */
	struct lfs_pointer *old_lfs, *new_lfs;
};

struct delta_set {
	struct delta *items; /* sorted by path */
	size_t count;
	git_oid old, new; /* the trees */
};

/*
 * Lists the changes from one tree to another; the zero id is the empty tree. Unsafe paths are
 * refused. The caller releases the set in both cases. Returns 0, or -1 with err set.
 */
int delta_list(git_repository *repository, const git_oid *old, const git_oid *new,
	       struct delta_set *ret_deltas, struct error *err);
void delta_release(struct delta_set *deltas);

/*
 * Compares the changes with the work tree and its index, and sets place and listed. Adds a sentence
 * to ret_trouble for each obstacle. leave: a file with other content is kept, and is not an
 * obstacle. Returns 0, or -1 with err set.
 */
int delta_classify(const struct user_repo *user, git_index *index, bool leave,
		   struct delta_set *deltas, struct list *ret_trouble, struct error *err);

/*
 * Opens the folder of a path, never through a symlink; with `make`, creates missing folders.
 * Returns the descriptor, or -1 with errno set; *ret_name is the last component.
 */
int delta_folder(int root, const char *path, bool make, const char **ret_name);

/*
 * delta_untouched() reports whether a file is unchanged since delta_classify(); delta_same()
 * compares the stat of a file that may have been moved.
 */
bool delta_untouched(const struct delta *delta, int folder, const char *name);
bool delta_same(const struct stat *a, const struct stat *b);

/*
 * delta_known() reports whether the stat in an index entry proves that the file is unchanged;
 * index: the stat of the index file. delta_stat() stores the stat in an entry.
 */
bool delta_known(const git_index_entry *entry, const struct stat *status, const struct stat *index);
void delta_stat(git_index_entry *entry, const struct stat *status);

/*
 * Reports whether the work tree has the content of an index entry. written: the stat of the index
 * file.
 */
bool delta_is_there(const struct user_repo *user, const git_index_entry *entry,
		    const struct stat *written);

/* Removes a folder that contains only folders. */
void delta_remove_empty_folders(int folder, const char *name);

#endif
