/*
 * Recognizes git directories, and finds them from the .git of a work tree and from files in which
 * git stores a path.
 */
#ifndef GITCONFIG_GITDIR_H
#define GITCONFIG_GITDIR_H

#include <stdbool.h>

/* Git's view of a folder. Its own name does not matter. */
enum gitdir_kind {
	GITDIR_NONE,
	GITDIR_WHOLE,  /* git obeys it when it is run inside */
	GITDIR_COMMON, /* harmless, until the `commondir` of a git directory names it */
};

/* Reports whether the folder has an entry of this name; `file`: one that is not a folder. */
typedef bool gitdir_has_fn(void *context, const char *name, bool file);

/*
 * Applies git's own rule to the entries of a folder, and errs on the side of a git directory: HEAD
 * may contain anything, and `objects` and `refs` may be files or dangling symlinks, because a later
 * change can complete them. `objects` may be missing, because GIT_OBJECT_DIRECTORY replaces it.
 */
enum gitdir_kind gitdir_classify(gitdir_has_fn *has, void *context);

/* Reports whether gitdir_classify() may ask for this name, which gitdir_fold() returned. */
bool gitdir_is_part(const char *folded);

/* Classifies an open folder on disk. */
enum gitdir_kind gitdir_classify_folder(int folder);

/* Classifies the folder that a path leads to. */
enum gitdir_kind gitdir_classify_path(const char *path);

/*
 * Returns a path in the one spelling that all file systems would agree on: they ignore case,
 * characters without a width, and dots and spaces at the end of a name. The caller frees it.
 */
char *gitdir_fold(const char *path);

/*
 * Returns the absolute path in the first line of a file, after a prefix such as "gitdir: ", or NULL
 * if there is no such line. A relative path is relative to the file's folder. The caller frees it.
 */
char *gitdir_pointer(const char *folder, const char *name, const char *word);

/*
 * Returns the git directory of a work tree: its .git if that is a folder, or the folder that the
 * file .git names. Returns NULL if there is neither. The caller frees it.
 */
char *gitdir_find(const char *work_tree);

/*
 * Returns the nearest folder above this absolute path that has a git directory, or NULL if there is
 * none, or if the folder itself has one. The caller frees it.
 */
char *gitdir_around(const char *folder);

/*
 * Returns the work tree of a git directory, as the directory or its configuration names it; the
 * folder around a `.git`; or else the directory itself. The caller frees it.
 */
char *gitdir_work_tree(const char *git);

#endif
