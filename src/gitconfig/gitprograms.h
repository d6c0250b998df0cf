/*
 * Lists the paths that git executes or reads because its configuration names them (included files,
 * hook folders and programs), or because a symlink in a git directory or a hook folder leads to
 * them. The configuration is only parsed, never obeyed. To be safe, conditional includes always
 * count, and so does every word of a command that may be a file.
 */
#ifndef GITCONFIG_GITPROGRAMS_H
#define GITCONFIG_GITPROGRAMS_H

#include "util/error.h"

/*
 * Caches configuration files, so that each is read once for any number of git directories. One
 * limit applies to all of them together. `home` is the user's home folder, or an empty string.
 */
struct gitprograms;
struct gitprograms *gitprograms_new(const char *home);
void gitprograms_free(struct gitprograms *programs);

typedef void gitprograms_fn(void *context, const char *path);

/*
 * Calls `found` with each absolute path named in the configuration of this git directory and the
 * related ones (gitrelated.h), the user or the machine; with the paths of the latter two files; and
 * with each symlink. A path may not exist. Paths that an earlier git directory has too may be
 * left out. Returns 0, or -1 with err set if there is more to read than the limit allows.
 */
int gitprograms_each(struct gitprograms *programs, const char *git, const char *work_tree,
		     gitprograms_fn *found, void *context, struct error *err);

#endif
