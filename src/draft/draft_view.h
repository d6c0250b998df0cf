/* The structs of drafts: see draft.h. */
#ifndef DRAFT_DRAFT_VIEW_H
#define DRAFT_DRAFT_VIEW_H

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
	/* A view may be stacked on another draft, of which it shows the changes and changes
	 * nothing; or NULL. */
	const char *over;
	/* A folder of files that are shown in place of those below, such as pinned or broken ones,
	 * and of overlayfs's marks for files that are hidden; or NULL. */
	const char *front;
};

/* Called now and then during a long copy. */
typedef void draft_progress_fn(void *context, uint64_t done_bytes, uint64_t all_bytes);

/* Returns whether the fence hides a file, or a folder with everything in it. */
typedef bool draft_hides_fn(void *context, const char *path, bool is_folder);

struct draft_request {
	struct draft_view view; /* as it will be entered */
	const char *kind;       /* a name of draft_kinds.h, or "auto": the first one that works */
	uint64_t most_bytes;    /* that a copy may write; 0: no limit */
	bool brief; /* removed after use: nobody asks what changed, or needs it after a crash */
	draft_progress_fn *progress; /* or NULL */
	void *progress_context;
	/* Hidden files are empty in a copy, so that no command can move them out of hiding;
	 * or NULL. */
	draft_hides_fn *hides;
	void *hides_context;
};

struct draft_made {
	const char *kind;
	uint64_t left_out; /* files that could not be read, and are empty in the draft */
	struct error why;  /* why a better kind does not work; the text is empty if none is */
};

#endif
