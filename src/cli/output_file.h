/* Files that a command is told to write. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "util/error.h"

#include <stddef.h>

/*
 * Writes a file that everyone may read; one that exists, even a symlink, is replaced at once. A
 * folder in the path that is a symlink is refused: in a project, an agent may have made it. Returns
 * 0, or -1 with err set.
 */
int output_file_write(const char *path, const char *text, size_t size, struct error *err);

#endif
