/*
 * Folders of installed packages, such as node_modules. A check finds its test runner there, so a
 * folder that was there before the loop is pinned (pins.h) while the agent does not change what it
 * should contain. Git ignores most of them.
 */
#ifndef PROJECT_PACKAGES_H
#define PROJECT_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Patterns of the folders; the list ends with NULL. */
extern const char *const packages_folders[];

/* Returns whether a path is such a folder, but not inside another one. */
bool packages_is_folder(const char *path);

/* Returns how many bytes of a file's path are such a folder's, or 0 for any other file. */
size_t packages_folder_of(const char *path);

/* Returns whether a file says which packages a folder should contain. */
bool packages_is_manifest(const char *folder, const char *path);

/* Returns whether two versions of a manifest ask for the same packages. Only a package.json has
 * other parts; an invalid one asks for none. */
bool packages_are_same(const char *manifest, const char *base, size_t base_size, const char *now,
		       size_t now_size);

/* Returns whether a path in such a folder is written when the packages are used. */
bool packages_is_cache(const char *path);

#endif
