/*
 * What git obeys beside its own directory, because a configuration says so: files that are included, and theirs, and folders
 * of hooks. They are read as text. Conditions are not judged, and a key that only looks like one of these counts, too: a path
 * too many does no harm.
 */
#ifndef UTIL_GITOBEY_H
#define UTIL_GITOBEY_H

/* The path in the first line of a file, behind a word ("gitdir: "); it begins at the file's folder. The caller frees; NULL:
 * there is none. */
char *gitobey_pointer(const char *folder, const char *name, const char *word);

/* The git directory of a work tree, by its .git: a folder, or a file that names one. The caller frees; NULL: there is
 * none. */
char *gitobey_folder(const char *work_tree);

typedef void gitobey_fn(void *context, const char *path);

/* Calls found for each path, absolute, that the configuration of this git directory names, or that of the user with this home (empty:
 * none), or the machine's; it may be there or not. */
void gitobey_each(const char *git, const char *work_tree, const char *home, gitobey_fn *found,
		  void *context);

#endif
