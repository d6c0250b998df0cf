/* Ringfence's state folder, which is never part of a project. */
#ifndef UTIL_FILE_STATE_FOLDER_H
#define UTIL_FILE_STATE_FOLDER_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* The user whose state it is. */
struct state_folder_owner {
	const char *home; /* a real path, or empty */
	uid_t uid;
	bool foreign; /* the environment belongs to another user, who has switched to this uid */
};

/* Finds $RINGFENCE_STATE_DIR, $XDG_STATE_HOME/ringfence or ~/.local/state/ringfence, creates it if
 * needed, and resolves symlinks if it exists. Refuses a folder that others can change
 * (ownership.h): it decides what is trusted. The caller frees *ret_state. Returns 0, or -1 with err
 * set. */
int state_folder_find(const struct state_folder_owner *owner, char **ret_state, struct error *err);

/* Creates a folder and its missing parents with this mode. Returns 0, or -1 with errno. */
int state_folder_make(const char *path, mode_t mode);

#endif
