/*
 * Opens and reads configuration files.
 *
 * A file of the project is opened and read once, without following symlinks; all decisions use
 * those bytes. Folders, pipes and devices are refused without blocking.
 */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Reads a file at the project's root. *ret_exists is false if there is none. Returns 0, or -1 with
 * err set, for example if the file exceeds the buffer's maximum. */
int config_file_read_project(int project, const char *name, struct buffer *bytes, bool *ret_exists,
			     struct error *err);

/* Reads the user's own file. Others must not be able to change it (ownership.h), and it must not be
 * in the project. `shown` is its name in errors. */
int config_file_read_user(const char *path, const char *shown, const char *project, uid_t uid,
			  struct buffer *bytes, bool *ret_exists, struct error *err);

#endif
