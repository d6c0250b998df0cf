/* Paths as text. Nothing here touches the file system. */
#ifndef UTIL_PATH_H
#define UTIL_PATH_H

#include <stdbool.h>

/* Is path the same as root, or below it? Both absolute and clean ("/a/b", no trailing slash). */
bool path_within(const char *path, const char *root);

/* Orders parents before children and keeps a subtree together ('/' sorts before every other byte).
 */
int path_compare(const char *a, const char *b);

/* dir + "/" + name; the caller frees. */
char *path_join(const char *dir, const char *name);

/* The text made absolute against base (an absolute path) and cleaned of "//", "." and "..", as
 * text. The caller frees. */
char *path_absolute(const char *path, const char *base);

/* The part after the last slash. */
const char *path_name(const char *path);

#endif
