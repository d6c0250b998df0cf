/* Ringfence's own folder, which is never part of a project. */
#ifndef UTIL_STATE_FOLDER_H
#define UTIL_STATE_FOLDER_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whose state is meant. */
struct state_folder_owner {
	const char *home; /* a real path; empty if there is none */
	uid_t uid;
	bool foreign; /* the environment is somebody else's, who has become this user */
};

/* $RINGFENCE_STATE_DIR, $XDG_STATE_HOME/ringfence or ~/.local/state/ringfence, made if need be; as
 * a real path where it exists. The caller frees *ret_state. Returns 0, or -1 with err set. */
int state_folder_find(const struct state_folder_owner *owner, char **ret_state, struct error *err);

/* Makes a folder and those above it; what it makes has this mode. Returns 0, or -1 with errno. */
int state_folder_make(const char *path, mode_t mode);

#endif
