/* Lists of paths and variables that Ringfence protects or shows by default. */
#ifndef FENCE_PLAN_DEFAULTS_H
#define FENCE_PLAN_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* Paths relative to the home folder. All lists end with NULL. */
extern const char *const defaults_home_secrets[];
extern const char *const defaults_home_executed[];
extern const char *const defaults_home_toolchains[];

/* System paths that are never writable, nor anything below or above them. */
extern const char *const defaults_unwritable[];

/* System folders that are mounted read-only, except /etc, which has lists of its own below. */
extern const char *const defaults_shown[];

/* Returns whether a path is in defaults_shown or /etc. */
bool defaults_is_system(const char *path);

/* Devices that exist in the fence. */
extern const char *const defaults_devices[];

/* Folders that are too broad, or shared, to be a project or writable as a whole. */
extern const char *const defaults_wide[];

/* Entries of /etc that are visible if they are world-readable. A trailing * makes it a prefix. */
extern const char *const defaults_etc_files[];
extern const char *const defaults_etc_folders[];

/* Full paths of folders in /etc that are mounted, because they have too many entries to copy. */
extern const char *const defaults_etc_mounts[];

/* Returns whether this path in /etc exists in the fence. */
bool defaults_etc_shows(const char *path);

/* Variables that are passed to the command. A trailing * makes it a prefix. */
extern const char *const defaults_environment[];

/* Variables, with their values, by which tools do without requests that the user did not make. */
extern const char *const defaults_quiet[];

#endif
