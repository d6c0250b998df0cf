/*
 * Lists the paths that git runs or reads because a configuration names them: included files and
 * their includes, folders of hooks, and programs. Configurations are read as text and never obeyed.
 * Conditions of includes are not evaluated, and every word of a command that can be a file counts:
 * a path too many does no harm.
 */
#ifndef GITCONFIG_GITPROGRAMS_H
#define GITCONFIG_GITPROGRAMS_H

#include "util/error.h"

/*
 * Remembers configurations, so that each is read once for any number of git directories. `home` is
 * the user's home folder (empty: none). One limit holds for all of them together.
 */
struct gitprograms;
struct gitprograms *gitprograms_new(const char *home);
void gitprograms_free(struct gitprograms *programs);

typedef void gitprograms_fn(void *context, const char *path);

/*
 * Calls `found` with each absolute path that the configuration of this git directory, the user's or
 * the machine's names, and with the paths of the last two themselves. A path may not exist.
 * Returns 0, or -1 with err set: there is more to read than the limit allows.
 */
int gitprograms_each(struct gitprograms *programs, const char *git, const char *work_tree,
		     gitprograms_fn *found, void *context, struct error *err);

#endif
