/*
 * A draft: changes to a project that are kept in a folder of their own, beside the project.
 *
 * A view shows the project with the changes of a draft, at the project's real path, to one process
 * and its children. Everybody else sees the project as it is. A view is a mount in namespaces of
 * that process and ends with it, so nothing has to be unmounted after a crash.
 *
 * There are several kinds of drafts (draft_kind.h). What is in a draft's folder tells its kind:
 *
 *	FOLDER/upper	overlay: changed and new files, and marks for deleted ones
 *	FOLDER/work	overlayfs's own
 *
 *	FOLDER/files	copy: a copy of the whole project, with the changes
 *	FOLDER/copied	which of its files are as they were copied (copied.h)
 */
#ifndef DRAFT_DRAFT_H
#define DRAFT_DRAFT_H

#include "draft/draft_kinds.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>
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

/* Called now and then during a long copy. */
typedef void draft_progress_fn(void *context, uint64_t done_bytes, uint64_t all_bytes);

/* Returns whether the fence hides a file, or a folder with everything in it. */
typedef bool draft_hides_fn(void *context, const char *path, bool is_folder);

struct draft_request {
	struct draft_view view; /* as it will be entered */
	const char *kind;       /* a name of draft_kinds.h, or "auto": the first one that works */
	uint64_t most_bytes;    /* that a copy may write; 0: no limit */
	draft_progress_fn *progress; /* or NULL */
	void *progress_context;
	/* What is hidden is empty in a copy, so that no command can move it out of hiding; or
	 * NULL. */
	draft_hides_fn *hides;
	void *hides_context;
};

struct draft_made {
	const char *kind;
	uint64_t left_out; /* files that could not be read, and are empty in the draft */
	struct error why;  /* why a better kind does not work; the text is empty if none is */
};

/* Creates an empty draft of a project. Its folder must not exist. Returns 0, or -1 with err set. */
int draft_make(const struct draft_request *request, struct draft_made *ret_made, struct error *err);

/* The same with a kind that works here, without limits. */
int draft_create(const char *project, const char *folder, struct error *err);

/* Returns the kind of a draft, or NULL with err set if its creation was interrupted. */
const char *draft_kind_name(const char *folder, struct error *err);

/* Moves this process, which must have one thread, to a view. Descriptors that it has opened still
 * refer to the project itself. Returns 0, or -1 with err set; this process has then not moved. */
int draft_enter(const struct draft_view *view, struct error *err);

/* Tries whether a kind works, with layers in this folder, which must exist and is left as it was.
 * Returns 0, or -1 with the reason and what to do in err. */
int draft_try(const char *kind, const char *state, struct error *err);

#endif
