/* Finds git directories: by the .git of a work tree, and by the files in which git writes a path. */
#ifndef GITCONFIG_GITDIR_H
#define GITCONFIG_GITDIR_H

/*
 * Returns the path in the first line of a file, after a prefix such as "gitdir: ". A relative path
 * starts at the file's folder. The caller frees; NULL: the file has no such line.
 */
char *gitdir_pointer(const char *folder, const char *name, const char *word);

/*
 * Returns the git directory of a work tree: its .git if that is a folder, or the folder that the
 * file .git names. The caller frees; NULL: there is none.
 */
char *gitdir_find(const char *work_tree);

#endif
