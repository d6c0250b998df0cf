/* Facts about the file system that a path is on. */
#ifndef UTIL_FILE_FILE_SYSTEM_H
#define UTIL_FILE_FILE_SYSTEM_H

#include <stdbool.h>

/* Reports whether it is one whose changes all come from this machine, and set the change times of
 * files and folders. */
bool file_system_is_local(const char *path);

#endif
