/*
 * Opening what is read as configuration.
 *
 * A file of the project is opened once, without following symlinks, and read once; all is decided
 * on those bytes. Whatever else is there (a folder, a pipe, a device) is refused, not waited for.
 */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Reads a file at the project's root. *ret_there is false if there is none. Returns 0, or -1 with err
 * set (more than the buffer's maximum is an error, too). */
int config_file_read_project(int project, const char *name, struct buffer *bytes, bool *ret_there,
			     struct error *err);

/* Reads the user's own file, which nobody else may write and which must not lie in the project.
 * `shown` is what it is called. */
int config_file_read_user(const char *path, const char *shown, const char *project, uid_t uid,
			  gid_t gid, struct buffer *bytes, bool *ret_there, struct error *err);

#endif
