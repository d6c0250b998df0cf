/* The user's global git configuration: where its files are, and the values in them. */
#ifndef SNAPSHOT_BASE_GITUSER_H
#define SNAPSHOT_BASE_GITUSER_H

#include <git2.h>

/*
 * Returns $HOME if this user owns it, otherwise the home in the user database. The caller frees it.
 */
char *gituser_home(void);

/* Returns the path of a file in $XDG_CONFIG_HOME, such as "git/ignore". The caller frees it. */
char *gituser_file(const char *home, const char *name);

/*
 * Resolves a path from a setting: "~/x" is relative to the home, others to `base`. The caller frees
 * it.
 */
char *gituser_path(const char *value, const char *base);

/*
 * Looks a setting up as git does: in the repository (or NULL), then in the user's and the system's
 * configuration. The caller frees it. Returns NULL if it is not set.
 */
char *gituser_setting(git_repository *repository, const char *key);

#endif
