/*
 * A draft: changes to a project that are kept in a folder of their own, beside the project.
 *
 * A view shows the project with the changes of a draft, at the project's real path, to one process
 * and its children. Everybody else sees the project as it is. A view is a mount in namespaces of
 * that process and ends with it, so nothing has to be unmounted after a crash.
 *
 *	FOLDER/upper	changed and new files, and marks for deleted ones (overlayfs's upper layer)
 *	FOLDER/work	overlayfs's own
 */
#ifndef DRAFT_DRAFT_H
#define DRAFT_DRAFT_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct draft_view {
	const char *project; /* a real path */
	const char *folder;  /* of the draft */
	bool writable;       /* changes go to the draft; only one view at a time may be writable */
	bool root;           /* this process is real root and needs no user namespace */
	bool foreign;        /* it was root, became this user, and still has root's secrets */
	uid_t lent_uid; /* shows root's files as this user's, by idmapped layers; 0: as they are */
	gid_t lent_gid;
};

/* Creates an empty draft of a project. Its folder must not exist. Returns 0, or -1 with err set. */
int draft_create(const char *project, const char *folder, struct error *err);

/* Finds out whether views of this draft work on this machine. Returns 0, or -1 with err set. */
int draft_try(const struct draft_view *view, struct error *err);

/* Moves this process, which must have one thread, to a view. Descriptors that it has opened still
 * refer to the project itself. Returns 0, or -1 with err set; this process has then not moved. */
int draft_enter(const struct draft_view *view, struct error *err);

/* Opens a file, by its path in the project, as a view of the draft shows it. No symlink is
 * followed. Returns the descriptor, or -1 with errno. */
int draft_open_file(const char *project, const char *folder, const char *path, int flags);

/* Reports whether a view of the draft shows anything at this path of the project. */
bool draft_exists(const char *project, const char *folder, const char *path);

/* Reports whether a folder of the upper layer hides the project's folder of that name. */
bool draft_is_opaque(int folder);

#endif
