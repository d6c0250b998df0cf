/* Files of the project, and of nowhere else: every path is resolved beneath its root, step by step. */
#ifndef BUILTIN_TOOL_BENEATH_H
#define BUILTIN_TOOL_BENEATH_H

#include "builtin/tool/tool.h"

#include <sys/stat.h>

/* The path below the root, "." for itself; one within `path` when it begins with a slash. The caller frees. Returns 0, or -1
 * with err set. */
int beneath_path(const struct tool_context *bench, const char *given, char **ret_path,
		 struct error *err);

/* Opens what a path of beneath_path() means. Returns the descriptor, or -1 with err set and errno kept. */
int beneath_open(const struct tool_context *bench, const char *path, int flags, struct error *err);

/* The same for a regular file, with what fstat says of it. */
int beneath_open_file(const struct tool_context *bench, const char *path, int flags,
		      struct stat *ret_status, struct error *err);

/* Makes the folders above a path. Returns 0, or -1 with err set. */
int beneath_make_folders(const struct tool_context *bench, const char *path, struct error *err);

/*
 * Puts bytes in place of what an open file holds. Where there is no room for them, that is found out first, and the file is as it
 * was. Returns 0, or -1 with err set. shown: its name for people.
 */
int beneath_fill(int fd, const char *shown, const char *bytes, size_t size, struct error *err);

#endif
