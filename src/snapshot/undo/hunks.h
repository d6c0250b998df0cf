/*
 * Parts of a changed text file that can be taken over one by one.
 *
 * A hunk is shown with the lines around it, as in a patch. It consists of one or more runs: changed
 * lines without an unchanged one between them. A choice has a character for each run of the file,
 * in order: '1' to take it over, '0' to leave it. With HUNKS_OLD_MODE before them, a changed mode
 * is left as well.
 */
#ifndef SNAPSHOT_UNDO_HUNKS_H
#define SNAPSHOT_UNDO_HUNKS_H

#include "snapshot/store/pack.h"
#include "snapshot/undo/changes.h"
#include "util/text/json.h"

#define HUNKS_OLD_MODE 'm'

struct hunks_side {
	const void *bytes;
	size_t size;
};

/* Appends the old text with the chosen runs of the new one. Returns 0, or -1 with err set; a choice
 * of another length, or of a binary file, is ERROR_INVALID. */
int hunks_pick(const struct hunks_side *old, const struct hunks_side *new, const char *choice,
	       struct buffer *out, struct error *err);

/* Lines of the new text that the old one does not have, from `first`, which counts from 1. */
struct hunks_lines {
	size_t first, count;
};

/* Finds all such lines. The caller frees them. Returns 0, or -1 with err set. */
int hunks_added(const struct hunks_side *old, const struct hunks_side *new,
		struct hunks_lines **ret_lines, size_t *ret_count, struct error *err);

/* Returns whether a change can be taken over in part: it is one of a small file, without a new
 * name. A binary one cannot; that is known once its lines are counted. */
bool hunks_has(const struct changes_item *change);

/* Returns whether a change can be shown as hunks: also an added, deleted or renamed file, or a
 * symlink. */
bool hunks_shows(const struct changes_item *change);

/* Writes the list `hunks`: each with its header and its lines, as in a patch. Returns 0, or -1 with
 * err set. */
int hunks_write(struct checkpoint_repo *repo, const struct changes_item *change, struct json *json,
		struct error *err);

/* Returns whether a change of a file also changes its mode. */
bool hunks_has_mode(const struct changes_item *change);

/* Gives `node` the old content with the chosen runs of the new one, and adds it to the pack; and
 * the old mode, if the choice says so. Returns 0, or -1 with err set. */
int hunks_pick_file(struct checkpoint_repo *repo, const struct changes_item *change,
		    const char *choice, struct pack *pack, struct node *node, struct error *err);

#endif
