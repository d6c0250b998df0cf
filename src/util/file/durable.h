/*
 * Files and folders that are whole after a power cut.
 *
 * File systems write a name and the data behind it independently: a file that is written and then
 * renamed can be empty after a power cut. So these functions keep the order: the data is on disk,
 * then the name appears, and the name is on disk when they return. scripts/check-durable refuses
 * other renames, except for those that it lists with a reason.
 */
#ifndef UTIL_FILE_DURABLE_H
#define UTIL_FILE_DURABLE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes a file in a folder atomically. If the name exists, even as a symlink, durable_replace()
 * replaces it and durable_create() fails with EEXIST. Returns 0, or -1 with errno and the old file
 * in place.
 */
int durable_replace(int folder, const char *name, const void *bytes, size_t size, mode_t mode);
int durable_create(int folder, const char *name, const void *bytes, size_t size, mode_t mode);

/*
 * Gives a written file, which is open as fd, its name: renames `temporary`, which is in
 * temporary_folder, to `name` in `folder`. Returns 0, or -1 with errno.
 */
int durable_name(int fd, int temporary_folder, const char *temporary, int folder, const char *name);

/*
 * Gives a finished folder its name, with everything below it: renames `temporary` to `name`, both
 * in `above`. Syncs the whole file system, so it is for folders that are made rarely. Returns 0, or
 * -1 with errno (EEXIST or ENOTEMPTY: the name is in use).
 */
int durable_name_folder(int above, const char *temporary, const char *name);

/* Syncs the folder of an absolute path, so that a new file or folder keeps its name. Returns 0, or
 * -1 with errno. */
int durable_sync_name(const char *path);

/* Removes a file; it does not come back after a power cut. Returns 0, or -1 with errno. */
int durable_remove(int folder, const char *name);

#endif
