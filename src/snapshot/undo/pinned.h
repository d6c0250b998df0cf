/*
 * The pinned files (project/pins.h) that differ between two trees, written to a folder that hides
 * the newer ones in a view: a layer of overlayfs, with a mark for each file that must not be seen.
 *
 * A file of the base that was changed or removed is restored. A new one that changes how the others
 * are checked is hidden, if the base has anything that is checked; so are new tests then, because
 * they may need it. A new configuration of a linter that a check names is always hidden. Of a
 * manifest, only some parts are restored. Folders of packages are as in pinned_packages.h.
 */
#ifndef SNAPSHOT_UNDO_PINNED_H
#define SNAPSHOT_UNDO_PINNED_H

#include "project/pins.h"
#include "snapshot/store/tree_reader.h"
#include "util/text/json.h"

struct pinned_request {
	/* The folders that differ are open in both trees (tree_reader_open_differing()); the reader
	 * opens others of the base where they matter. */
	struct tree_reader *reader;
	struct node *base, *now;
	const struct pins *pins;
	const char *project;
	const char *draft; /* or NULL (pinned_packages.h) */
};

/* Writes the files to an empty folder, and their list to an answer as `pinned`, 200 at most. The
 * paths are added to *ret_paths, which the caller releases. Without a folder, all are listed and
 * none is written. Returns 0, or -1 with err set. */
int pinned_write(const struct pinned_request *request, const char *folder, struct json *json,
		 struct list *ret_paths, struct error *err);

/* Takes back the changes of a check to pinned files of the base, and to new ones that are hidden,
 * in a folder of views (loop/run/verification.h). Everything else stays, and so do packages in a
 * view that is a copy. Returns 0, or -1 with err set. */
int pinned_settle(const struct pinned_request *request, const char *views, struct error *err);

#endif
