/*
 * The user's repository that contains a project: its state and its lock. It is read by libgit2,
 * which runs no hook, filter or merge driver. Its configuration can be trusted: the fence keeps
 * agents from writing it.
 */
#ifndef SNAPSHOT_APPLY_USER_REPO_H
#define SNAPSHOT_APPLY_USER_REPO_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>
#include <stdbool.h>

struct user_repo {
	git_repository *repository;
	char *work;   /* the work tree; paths have no trailing slash */
	char *git;    /* the git directory of this work tree */
	char *common; /* the git directory shared by all work trees */
	char *lfs;    /* the store of Git LFS, which need not exist */
	int work_fd, git_fd;
	int lock;     /* index.lock, while it is held */
	bool stale;   /* a killed process of ours had left the lock */
	char *branch; /* such as refs/heads/main; NULL if HEAD is detached */
	bool unborn;  /* the branch has no commit yet */
	git_oid head; /* the commit of HEAD, unless unborn */
};

/*
 * Opens the repository that contains a folder. From then on this process can write only there, to
 * the work tree and to the folder `also` (or NULL); see base/snapshot_confine.h. Returns 0, or -1
 * with err set.
 */
int user_repo_open(struct user_repo *user, const char *project, const char *also,
		   struct error *err);
void user_repo_close(struct user_repo *user);

/*
 * Reads HEAD again, which may have moved before the lock was taken. Returns 0, or -1 with err set.
 */
int user_repo_head(struct user_repo *user, struct error *err);

/* Returns the operation that is in progress, such as a merge, and how to end it; or NULL. */
const char *user_repo_operation(const struct user_repo *user);

/*
 * Checks that a branch is checked out and no operation is in progress. Returns 0, or -1 with err
 * set.
 */
int user_repo_check_idle(const struct user_repo *user, struct error *err);

/*
 * Takes index.lock as git does, so that no git command starts in the meantime. Takes over a lock
 * that a killed process of ours left. Returns 0, or -1 with err set.
 */
int user_repo_lock(struct user_repo *user, struct error *err);

/* Reports whether a killed process of ours left its lock in this git directory. */
bool user_repo_was_killed(int git);

/* The name of a new index in the git directory, beside the current one. */
#define USER_REPO_NEW_INDEX "ringfence-index"

/* Removes an unfinished new index. The caller holds the lock, here and below. */
void user_repo_clear_index(const struct user_repo *user);

/* Replaces the current index with the new one. Returns 0, or -1 with err set. */
int user_repo_put_index(const struct user_repo *user, struct error *err);

/*
 * Finds the user's identity in the environment, the repository's configuration or the user's. The
 * caller frees it. Returns 0, or -1 with err set if it is not configured.
 */
int user_repo_identity(const struct user_repo *user, git_signature **ret_signature,
		       struct error *err);

/*
 * Lists the absolute paths, in the work tree or elsewhere, that git executes or reads as
 * configuration because the user's configuration names them (hooks, includes and programs), and
 * the symlinks in the git directory; each as it is named and, if that differs, as the real path it
 * leads to. The caller releases the list. Returns 0, or -1 with err set.
 */
int user_repo_obeyed(const char *git, const char *work, struct list *ret_paths, struct error *err);

#endif
