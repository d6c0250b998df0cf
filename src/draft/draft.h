/*
 * A draft: changes to a project that are kept in a folder of their own, beside the project.
 *
 * A view shows the project with the changes of a draft, at the project's real path, to one process
 * and its children. Everybody else sees the project as it is. A view is a mount in namespaces of
 * that process and ends with it, so nothing has to be unmounted after a crash.
 *
 * There are several kinds of drafts (draft_kind.h). The entries of its folder tell a draft's kind:
 *
 *	FOLDER/upper	overlay: changed and new files, and marks for deleted ones
 *	FOLDER/work	overlayfs's own
 *
 *	FOLDER/files	copy: a copy of the whole project, with the changes
 *	FOLDER/copied	which of its files are as they were copied (copied.h)
 */
#ifndef DRAFT_DRAFT_H
#define DRAFT_DRAFT_H

#include "draft/draft_view.h"
#include "util/error.h"

/* Creates an empty draft of a project, and proves that it can be shown. Its folder must not exist.
 * Returns 0, or -1 with err set. The status is ERROR_DIED if the process that mounts it was killed;
 * the same holds for draft_enter(). */
int draft_make(const struct draft_request *request, struct draft_made *ret_made, struct error *err);

/* Adds all changes of another draft of the project, which nobody changes meanwhile, to one that was
 * just made, also those of ignored files. They are on disk when it returns. Returns 0, or -1 with
 * err set. */
int draft_seed(const char *folder, const char *from, struct error *err);

/* Returns the kind of a draft, or NULL with err set if its creation was interrupted. */
const char *draft_kind_name(const char *folder, struct error *err);

/* Returns the folder that holds the draft's own files, or NULL with err set. The caller frees it.
 * In an overlay these are the changed ones, and in a copy all. */
char *draft_files(const char *folder, struct error *err);

/* Reports whether a view of the draft shows the project's files where the draft has none of its
 * own. Only then do renames of folders need help. */
bool draft_is_layered(const char *folder);

/* Moves this process, which must have one thread, to a view. Descriptors that it has opened still
 * refer to the project itself. Returns 0, or -1 with err set; this process has then not moved. */
int draft_enter(const struct draft_view *view, struct error *err);

/* Opens a file, by its path in the project, as a view of the draft shows it. No symlink is
 * followed. Returns the descriptor, or -1 with errno. */
int draft_open_file(const char *project, const char *folder, const char *path, int flags);

/* Reports whether a view of the draft shows anything at this path of the project. */
bool draft_exists(const char *project, const char *folder, const char *path);

/* Tries whether the kind with this name works, with layers in this folder, which must exist and is
 * left as it was. Returns 0, or -1 with the reason and what to do in err. */
int draft_try(const char *name, const char *state, struct error *err);

#endif
