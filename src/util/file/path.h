/* Paths as text. Nothing here touches the file system. */
#ifndef UTIL_FILE_PATH_H
#define UTIL_FILE_PATH_H

#include <stdbool.h>

/* Reports whether path equals root or is below it. Both must be clean, and either absolute ("/a/b",
 * no trailing slash) or relative to the same folder ("a/b"). */
bool path_within(const char *path, const char *root);

/* Orders parents before children and keeps subtrees together ('/' sorts before every other
 * byte). */
int path_compare(const char *a, const char *b);

/* Returns dir + "/" + name; the caller frees it. */
char *path_join(const char *dir, const char *name);

/* Returns the path made absolute against base (an absolute path) and lexically cleaned of "//", "."
 * and "..". The caller frees it. */
char *path_absolute(const char *path, const char *base);

/* Returns the part after the last slash. */
const char *path_name(const char *path);

/* Returns the part up to the last slash, with the slash; empty without one. The caller frees it. */
char *path_folder(const char *path);

#endif
