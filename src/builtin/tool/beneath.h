/*
 * Opens files of the project and nothing else: each path is resolved step by step below its root.
 */
#ifndef BUILTIN_TOOL_BENEATH_H
#define BUILTIN_TOOL_BENEATH_H

#include "builtin/tool/tool.h"

#include <sys/stat.h>

/*
 * Makes a path from the model relative to the root, "." for the root itself. An absolute path must
 * be below the root. The caller frees. Returns 0, or -1 with err set.
 */
int beneath_path(const struct tool_context *ctx, const char *given, char **ret_path,
		 struct error *err);

/* Opens a path from beneath_path(). Returns the descriptor, or -1 with err set and errno kept. */
int beneath_open(const struct tool_context *ctx, const char *path, int flags, struct error *err);

/* Same, for a regular file; also returns its status. */
int beneath_open_file(const struct tool_context *ctx, const char *path, int flags,
		      struct stat *ret_status, struct error *err);

/* Creates the folders above a path. Returns 0, or -1 with err set. */
int beneath_make_folders(const struct tool_context *ctx, const char *path, struct error *err);

/*
 * Replaces the contents of an open file. Space is reserved first, so that a full disk leaves the
 * file unchanged. `shown` names the file in messages. Returns 0, or -1 with err set.
 */
int beneath_fill(int fd, const char *shown, const char *bytes, size_t size, struct error *err);

#endif
