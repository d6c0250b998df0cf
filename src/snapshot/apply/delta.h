/*
 * What has to change in a work tree and its index so that they become another tree, and whether that can be done:
 * of every path that changes, what is there must be what was committed, or already what it is to become. Everything
 * else is the user's own, and stays.
 */
#ifndef SNAPSHOT_APPLY_DELTA_H
#define SNAPSHOT_APPLY_DELTA_H

#include "snapshot/apply/user_repo.h"
#include "util/list.h"

#include <stdint.h>
#include <sys/stat.h>

enum { DELTA_MOST = 1000000, DELTA_TOLD = 20 };

/* A path, before and after; mode 0: it is not there. */
struct delta {
	char *path;
	git_oid old, new;
	uint32_t old_mode, new_mode;
	enum delta_place {
		DELTA_OLD,   /* the work tree has what was committed: it has to change */
		DELTA_NEW,   /* it has what comes already */
		DELTA_OTHER, /* it has something of the user's */
		DELTA_APART, /* it is none of the work tree's affairs: left out of it, or a submodule */
	} place,
		listed;   /* listed: in the index; OLD, NEW or OTHER */
	struct stat seen; /* what is there; from when it was put into its place: what comes */
	bool absent;
	uint32_t staged; /* see undo/stage.h */
};

struct delta_set {
	struct delta *items; /* sorted by path */
	size_t count;
};

/* From one tree to another; a zero id: from nothing. Names that could lead elsewhere are refused. The caller releases in
 * any case. Returns 0, or -1 with err set. */
int delta_list(git_repository *repository, const git_oid *old, const git_oid *new,
	       struct delta_set *ret_deltas, struct error *err);
void delta_release(struct delta_set *deltas);

/* Looks at the work tree and at its index; fills place and listed. trouble: a sentence for each thing of the
 * user's that is in the way. leave: a file that is something else again may stay so, and is not in the way. Returns 0, or
 * -1 with err set. */
int delta_look(const struct user_repo *user, git_index *index, bool leave, struct delta_set *deltas,
	       struct list *ret_trouble, struct error *err);

/* Opens the folder that a path lies in, never through a symlink; make: folders that are missing are made. Returns
 * it, or -1 with errno; *ret_name is the last part of the path. */
int delta_folder(int root, const char *path, bool make, const char **ret_name);

/* Has it changed since delta_look()? And what decides that of a file, which may be elsewhere now. */
bool delta_untouched(const struct delta *delta, int folder, const char *name);
bool delta_same(const struct stat *a, const struct stat *b);

/* Does an index that was written then know a file as it is? And what it says of a file from now on. */
bool delta_known(const git_index_entry *entry, const struct stat *status, const struct stat *index);
void delta_stat(git_index_entry *entry, const struct stat *status);

/* Does the work tree have what an index says of a path? written: when that was. */
bool delta_is_there(const struct user_repo *user, const git_index_entry *entry,
		    const struct stat *written);

/* Removes folders in which there is nothing but folders. */
void delta_remove_hollow(int folder, const char *name);

#endif
