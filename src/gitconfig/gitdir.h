/* Finds git directories: from the .git of a work tree, and from files in which git stores a
 * path. */
#ifndef GITCONFIG_GITDIR_H
#define GITCONFIG_GITDIR_H

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

#endif
