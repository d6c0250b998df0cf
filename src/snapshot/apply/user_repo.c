/* The user's repository. */
#include "snapshot/apply/user_repo.h"

#include "gitconfig/gitprograms.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/gituser.h"
#include "snapshot/base/libgit.h"
#include "snapshot/base/snapshot_confine.h"
#include "util/env.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The content of our index.lock. */
#define MARK      "ringfence\n"
#define LOCK      "index.lock"
#define TEMPORARY "ringfence-lock"

static char *strip_slashes(const char *path)
{
	char *copy = mem_dup(path ? path : "/");
	size_t size = strlen(copy);

	while (size > 1 && copy[size - 1] == '/')
		copy[--size] = '\0';
	return copy;
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int user_repo_head(struct user_repo *user, struct error *err)
{
	git_reference *head = NULL;
	int detached = git_repository_head_detached(user->repository);

	if (git_reference_lookup(&head, user->repository, "HEAD") < 0)
		return libgit_error("read HEAD", err);
	free(user->branch);
	user->branch = NULL;
	if (!detached && git_reference_symbolic_target(head))
		user->branch = mem_dup(git_reference_symbolic_target(head));
	git_reference_free(head);
	user->unborn = git_repository_head_unborn(user->repository) == 1;
	if (!user->unborn && git_reference_name_to_id(&user->head, user->repository, "HEAD") < 0)
		return libgit_error("read HEAD", err);
	return 0;
}

static char *find_lfs(const struct user_repo *user)
{
	AUTO_FREE char *storage = gituser_setting(user->repository, "lfs.storage");

	return storage && *storage ? gituser_path(storage, user->common)
				   : path_join(user->common, "lfs");
}

static int confine(const struct user_repo *user, const char *also, struct error *err)
{
	const char *places[] = { user->common, user->work, NULL, NULL, NULL };
	size_t count = 2;

	if (also)
		places[count++] = also;
	if (access(user->lfs, F_OK) == 0)
		places[count++] = user->lfs;
	return snapshot_confine_writes(places, err);
}

int user_repo_open(struct user_repo *user, const char *project, const char *also, struct error *err)
{
	*user = (struct user_repo){ .work_fd = -1, .git_fd = -1, .lock = -1 };
	libgit_init();
	if (git_repository_open_ext(&user->repository, project, 0, NULL) < 0) {
		if (git_error_last() && git_error_last()->klass == GIT_ERROR_REPOSITORY &&
		    strstr(git_error_last()->message, "could not find"))
			return error_with(
				err, ERROR_NOT_FOUND,
				"'%s' is not in a git repository (create one with: git init)",
				project);
		return libgit_error("open the git repository", err);
	}
	if (git_repository_is_bare(user->repository))
		return error_set(err, "the git repository of '%s' is bare: it has no work tree",
				 project);
	user->work = strip_slashes(git_repository_workdir(user->repository));
	user->git = strip_slashes(git_repository_path(user->repository));
	user->common = strip_slashes(git_repository_commondir(user->repository));
	if (!path_within(project, user->work))
		return error_set(
			err,
			"the repository's work tree is '%s', which does not contain the project",
			user->work);
	user->work_fd = open_folder(user->work);
	user->git_fd = open_folder(user->git);
	if (user->work_fd < 0 || user->git_fd < 0)
		return error_sys(err, "open '%s'", user->work_fd < 0 ? user->work : user->git);
	user->lfs = find_lfs(user);
	return confine(user, also, err) < 0 ? -1 : user_repo_head(user, err);
}

static void unlock(struct user_repo *user)
{
	if (user->lock < 0)
		return;
	fault_point();
	unlinkat(user->git_fd, LOCK, 0);
	fd_close(&user->lock);
}

void user_repo_close(struct user_repo *user)
{
	unlock(user);
	git_repository_free(user->repository);
	fd_close(&user->work_fd);
	fd_close(&user->git_fd);
	free(user->work);
	free(user->git);
	free(user->common);
	free(user->lfs);
	free(user->branch);
	*user = (struct user_repo){ .work_fd = -1, .git_fd = -1, .lock = -1 };
}

/* ---- operations in progress ---- */

static const char *describe_state(int state)
{
	switch (state) {
	case GIT_REPOSITORY_STATE_NONE:
		return NULL;
	case GIT_REPOSITORY_STATE_MERGE:
		return "a merge is in progress (git merge --continue or --abort)";
	case GIT_REPOSITORY_STATE_REVERT:
	case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
		return "a revert is in progress (git revert --continue or --abort)";
	case GIT_REPOSITORY_STATE_CHERRYPICK:
	case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
		return "a cherry-pick is in progress (git cherry-pick --continue or --abort)";
	case GIT_REPOSITORY_STATE_BISECT:
		return "a bisect is in progress (git bisect reset)";
	case GIT_REPOSITORY_STATE_APPLY_MAILBOX:
		return "a git am is in progress (git am --continue or --abort)";
	default:
		return "a rebase is in progress (git rebase --continue or --abort)";
	}
}

const char *user_repo_operation(const struct user_repo *user)
{
	return describe_state(git_repository_state(user->repository));
}

int user_repo_check_idle(const struct user_repo *user, struct error *err)
{
	const char *what = user_repo_operation(user);

	if (what)
		return error_set(err, "in '%s', %s", user->work, what);
	if (!user->branch)
		return error_set(err,
				 "in '%s', no branch is checked out: HEAD is detached (git switch "
				 "BRANCH)",
				 user->work);
	return 0;
}

/* ---- the lock ---- */

/*
 * Opens the existing lock. Returns the descriptor, or -1 with errno set (EPERM if it is not ours).
 */
static int open_lock(int git)
{
	AUTO_FD fd = openat(git, LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[sizeof MARK] = "";

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof text - 1) < 0 || strcmp(text, MARK) != 0) {
		errno = EPERM;
		return -1;
	}
	return fd_steal(&fd);
}

bool user_repo_was_killed(int git)
{
	AUTO_FD fd = open_lock(git);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Removes the existing lock if a killed process of ours left it. Returns 1, or -1 with err set. */
static int break_stale(const struct user_repo *user, struct error *err)
{
	AUTO_FD fd = open_lock(user->git_fd);

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0)
		return error_with(
			err, ERROR_BUSY,
			"git is running in this repository, or was killed: '%s/%s' exists (if no "
			"git is running, remove it)",
			user->git, LOCK);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_with(err, ERROR_BUSY,
				  "another ringfence apply is running in this repository");
	unlinkat(user->git_fd, LOCK, 0);
	return 1;
}

int user_repo_lock(struct user_repo *user, struct error *err)
{
	AUTO_FD fd = openat(user->git_fd, TEMPORARY, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			    0600);

	fault_point();
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_sys(err, "create '%s/%s'", user->git, TEMPORARY);
	/* Synced: an empty lock, left by a power cut, would be anyone's. */
	bool written = ftruncate(fd, 0) == 0 && fd_write_all(fd, MARK, strlen(MARK)) == 0 &&
		       fsync(fd) == 0;

	if (!written)
		error_sys(err, "write '%s/%s'", user->git, TEMPORARY);
	for (int tries = 0; written && tries < 2; tries++) {
		fault_point();
		/*
		 * Renaming makes the lock appear with its content in one step, so its owner is
		 * always known.
		 */
		if (renameat2(user->git_fd, TEMPORARY, user->git_fd, LOCK, RENAME_NOREPLACE) == 0) {
			fault_point();
			user->lock = fd_steal(&fd);
			return 0;
		}
		if (errno != EEXIST) {
			error_sys(err, "create '%s/%s'", user->git, LOCK);
			break;
		}
		if (break_stale(user, err) < 0)
			break;
		user->stale = true;
		error_set(err, "'%s/%s' reappeared (try again)", user->git, LOCK);
	}
	unlinkat(user->git_fd, TEMPORARY, 0);
	return -1;
}

/* ---- the index ---- */

void user_repo_clear_index(const struct user_repo *user)
{
	unlinkat(user->git_fd, USER_REPO_NEW_INDEX, 0);
	unlinkat(user->git_fd, USER_REPO_NEW_INDEX ".lock",
		 0); /* left by libgit2 when it is killed */
}

int user_repo_put_index(const struct user_repo *user, struct error *err)
{
	AUTO_FD fd = openat(user->git_fd, USER_REPO_NEW_INDEX, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	fault_point();
	if (fd < 0 ||
	    durable_name(fd, user->git_fd, USER_REPO_NEW_INDEX, user->git_fd, "index") < 0)
		return error_sys(err, "move the new index into place");
	fault_point();
	return 0;
}

/* ---- identity ---- */

static char *identity_part(const struct user_repo *user, const char *variable, const char *key)
{
	const char *given = env_get(variable);

	return given && *given ? mem_dup(given) : gituser_setting(user->repository, key);
}

int user_repo_identity(const struct user_repo *user, git_signature **ret_signature,
		       struct error *err)
{
	AUTO_FREE char *name = identity_part(user, "GIT_COMMITTER_NAME", "user.name");
	AUTO_FREE char *mail = identity_part(user, "GIT_COMMITTER_EMAIL", "user.email");

	if (!name || !mail)
		return error_set(err, "a commit needs your name and email (git config --global "
				      "user.name NAME; git config --global user.email EMAIL)");
	if (git_signature_now(ret_signature, name, mail) < 0)
		return libgit_error("create a signature", err);
	return 0;
}

/* ---- paths that git obeys ---- */

struct obeyed {
	struct list *paths;
	struct symlinks symlinks;
};

static void pass_entry(void *context, const char *path, const char *target)
{
	(void)context, (void)path, (void)target;
}

static void add_obeyed(void *context, const char *named)
{
	struct obeyed *obeyed = context;
	AUTO_FREE char *end = symlinks_follow(&obeyed->symlinks, named, pass_entry, NULL);

	list_add(obeyed->paths, named);
	if (strcmp(named, end) != 0)
		list_add(obeyed->paths, end);
}

int user_repo_obeyed(const char *git, const char *work, struct list *ret_paths, struct error *err)
{
	struct list paths = { 0 };
	struct obeyed obeyed = { .paths = &paths };
	AUTO_FREE char *home = gituser_home();
	struct gitprograms *programs = gitprograms_new(home);
	int result = gitprograms_each(programs, git, work, add_obeyed, &obeyed, err);

	gitprograms_free(programs);
	symlinks_release(&obeyed.symlinks);
	if (result < 0) {
		list_release(&paths);
		return -1;
	}
	*ret_paths = paths;
	return 0;
}
