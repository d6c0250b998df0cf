/* The changes that apply makes in a project, each in its group. */
#ifndef OPS_APPLY_CHANGES_H
#define OPS_APPLY_CHANGES_H

#include "ops/op.h"
#include "project/path_group.h"

#include <jansson.h>

enum apply_changes_status {
	APPLY_CHANGES_ADDED,
	APPLY_CHANGES_DELETED,
	APPLY_CHANGES_MODIFIED,
	APPLY_CHANGES_RENAMED,
	APPLY_CHANGES_STATUSES
};

struct apply_changes_item {
	uint64_t number; /* the preview's; both paths of a renamed file have the same */
	char *path;
	char *from; /* the earlier path of a renamed file, or NULL */
	enum apply_changes_status status;
	enum path_group group;
	char *why; /* why the group needs a yes, or NULL */
	bool binary;
	uint64_t added, removed;         /* lines */
	uint64_t bytes;                  /* of the new content */
	json_t *hunks;                   /* see snapshot/undo/hunks.h; or NULL */
	unsigned int old_mode, new_mode; /* of a file with hunks; equal if its mode stays */
};

struct apply_changes {
	struct apply_changes_item *items;
	size_t count;
};

/* The size of a group. */
struct apply_changes_sum {
	size_t paths;
	uint64_t added, removed;
	uint64_t bytes; /* of the new contents */
};

/* Reads the list `changes` of an answer of ringfence-snapshot. With work_tree, tree and obeyed, the
 * paths that tools obey are followed to the files they lead to. pins: those that the agent changed
 * (apply_pins.h), or NULL. Returns 0, or -1 with err set. */
int apply_changes_read(const json_t *answer, const json_t *pins, struct apply_changes *ret_changes,
		       struct error *err);
void apply_changes_release(struct apply_changes *changes);

struct apply_changes_sum apply_changes_sum(const struct apply_changes *changes,
					   enum path_group group);

/* Asks about the changes of a group, in this result. There are no items if it needs no yes. */
void apply_changes_ask(const struct apply_changes *changes, enum path_group group, const char *tree,
		       struct op_question *ret_question);

/* A status as git's letter. */
char apply_changes_letter(enum apply_changes_status status);

/* For JSON output: the list of changes, and that of the groups that are not empty. */
json_t *apply_changes_json(const struct apply_changes *changes);
json_t *apply_changes_groups_json(const struct apply_changes *changes);

#endif
