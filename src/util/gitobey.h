/*
 * What git obeys beside its own directory, because a configuration says so: files that are included, and theirs, folders of
 * hooks, and programs. They are read as text. Conditions are not judged, and of a command every word counts that can be a
 * file: a path too many does no harm.
 */
#ifndef UTIL_GITOBEY_H
#define UTIL_GITOBEY_H

#include "util/error.h"

/* The path in the first line of a file, behind a word ("gitdir: "); it begins at the file's folder. The caller frees; NULL:
 * there is none. */
char *gitobey_pointer(const char *folder, const char *name, const char *word);

/* The git directory of a work tree, by its .git: a folder, or a file that names one. The caller frees; NULL: there is
 * none. */
char *gitobey_folder(const char *work_tree);

/* Configurations that have been read, each once, for any number of git directories of a user with this home (empty: none).
 * There is one limit for all of them together. */
struct gitobey;
struct gitobey *gitobey_new(const char *home);
void gitobey_free(struct gitobey *obey);

typedef void gitobey_fn(void *context, const char *path);

/* Calls found for each path, absolute, that the configuration of this git directory names, or that of the user, or the
 * machine's, and for these two themselves; it may be there or not. Returns 0, or -1 with err set: there is more to read than can be. */
int gitobey_each(struct gitobey *obey, const char *git, const char *work_tree, gitobey_fn *found,
		 void *context, struct error *err);

#endif
