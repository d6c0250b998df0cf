/* The user's own settings of git, which hold for all their repositories: where they are, and what they say. */
#ifndef SNAPSHOT_BASE_GITUSER_H
#define SNAPSHOT_BASE_GITUSER_H

#include <git2.h>

/* Where they are: $HOME, if it is this user's. The caller frees. */
char *gituser_home(void);

/* A file of theirs that is not in the home itself ("git/ignore"). The caller frees. */
char *gituser_file(const char *home, const char *name);

/* A path as a setting names it: "~/x" is in the home, others begin at a folder. The caller frees. */
char *gituser_path(const char *value, const char *base);

/* A setting as git finds it: in the repository (NULL: none), or else in these and in the machine's. The caller frees. NULL:
 * nobody has said so. */
char *gituser_setting(git_repository *repository, const char *key);

#endif
