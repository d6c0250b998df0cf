/*
 * The repository of the user's that a project lies in: what it is, whether it is at rest, and its lock. It is read
 * by libgit2, which runs no hook, filter or merge driver. Its configuration is the user's own: the fence
 * keeps it from being written.
 */
#ifndef SNAPSHOT_APPLY_USER_REPO_H
#define SNAPSHOT_APPLY_USER_REPO_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>
#include <stdbool.h>

struct user_repo {
	git_repository *repository;
	char *work;   /* its work tree; paths have no slash at their end */
	char *git;    /* the git directory of this work tree */
	char *common; /* the one that all work trees share */
	int work_fd, git_fd;
	int lock;     /* index.lock, while it is held */
	bool stale;   /* the lock was one that a killed process of ours had left */
	char *branch; /* refs/heads/main; NULL: HEAD is detached */
	bool unborn;  /* the branch has no commit yet */
	git_oid head; /* of HEAD, unless that is unborn */
};

/* Opens the repository that a folder lies in. From then on this process can write there, to its work tree and to the
 * folder `also` (NULL: none), and nowhere else (base/confine.h). Returns 0, or -1 with err set. */
int user_repo_open(struct user_repo *user, const char *project, const char *also,
		   struct error *err);
void user_repo_close(struct user_repo *user);

/* Reads HEAD again: before the lock it may move. Returns 0, or -1 with err set. */
int user_repo_head(struct user_repo *user, struct error *err);

/* Is a branch checked out, and nothing under way? Returns 0, or -1 with err set: it is named. */
int user_repo_at_rest(const struct user_repo *user, struct error *err);

/* Takes index.lock as git does, so that no git begins meanwhile; one that a process of ours left behind when it
 * was killed is taken over. Returns 0, or -1 with err set. */
int user_repo_lock(struct user_repo *user, struct error *err);

/* Did a process of ours leave its lock behind in this git directory when it was killed? */
bool user_repo_was_killed(int git);

/* A new index is made in this file of the git directory, beside the one in force. */
#define USER_REPO_NEW_INDEX "ringfence-index"

/* Removes what was left of one that was not finished. The lock is held, here and below. */
void user_repo_clear_index(const struct user_repo *user);

/* Puts it in force. Returns 0, or -1 with err set. */
int user_repo_put_index(const struct user_repo *user, struct error *err);

/* Who the user is: by environment, by the repository's configuration, by their own. The caller frees it. Returns 0, or
 * -1 with err set: nobody has said so. */
int user_repo_identity(const struct user_repo *user, git_signature **ret_signature,
		       struct error *err);

/* What in the work tree git runs, or reads as configuration, because the user's own configuration or links in the git
 * directory say so: hooks, includes and programs, as paths in it. "." is the work tree itself. The caller releases them.
 * Returns 0, or -1 with err set. */
int user_repo_obeyed(const struct user_repo *user, struct list *ret_paths, struct error *err);

#endif
