/*
 * Pushes a branch with the user's own git, in the user's repository.
 *
 * Running git there is sound because of what keeps it sound for the user: the fence protects the
 * git directory, its configuration and every file that this includes, and the sweep moves away what
 * was planted. Hooks are the exception. They often run scripts of the project, which an agent may
 * have changed, so none runs. A push reads no file of the work tree. The remote is named by the
 * user's configuration, never by a file of the project.
 */
#ifndef LAND_LAND_GIT_H
#define LAND_LAND_GIT_H

#include "land/land_program.h"
#include "util/error.h"

enum { LAND_COMMIT = 65 }; /* bytes of a commit's name */

struct land_git {
	struct land_program program;
	const char *project;
	const struct taint *taint;
	bool asks; /* for a password, on the terminal */
};

/* Refuses a configuration that names programs which an agent can change. `taint` is borrowed; its
 * folder is the project. */
int land_git_open(const char *project, const struct taint *taint, bool asks,
		  struct land_git *ret_git, struct error *err);
void land_git_close(struct land_git *git);

/* Returns the remote to push to, unless the user has named one: remote.pushDefault, that of the
 * current branch, origin, or the only one. The caller frees *ret_name. */
int land_git_remote(const struct land_git *git, char **ret_name, struct error *err);

/* Returns the URL that a push to a remote uses. */
int land_git_url(const struct land_git *git, const char *remote, char **ret_url, struct error *err);

/* Finds the commit of a local branch. */
int land_git_commit(const struct land_git *git, const char *branch, char ret_commit[LAND_COMMIT],
		    struct error *err);

/* Finds the commit of the remote's branch; empty if there is no such branch. */
int land_git_there(const struct land_git *git, const char *remote, const char *branch,
		   char ret_commit[LAND_COMMIT], struct error *err);

/* Makes the remote's branch this commit, if it still is `expected`; empty: if there is none. */
int land_git_push(const struct land_git *git, const char *remote, const char *branch,
		  const char *commit, const char *expected, struct error *err);

#endif
