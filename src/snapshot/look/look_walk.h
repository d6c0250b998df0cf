/*
 * Looks through a project and makes a tree of nodes of it, with every content in the repository. Nothing of
 * the project is consulted as configuration, nothing is executed, and no symlink is followed.
 *
 * Left out are: the project's own .git, other file systems, what the rules ignore, and what is named in
 * the skipped nodes.
 */
#ifndef SNAPSHOT_LOOK_LOOK_WALK_H
#define SNAPSHOT_LOOK_LOOK_WALK_H

#include "snapshot/look/content.h"
#include "snapshot/look/ignore_rules.h"
#include "snapshot/store/node.h"
#include "snapshot/store/pack.h"

/* Where files wait on their way back into a project; at its root, for a moment. */
#define LOOK_WALK_STAGE ".ringfence-rollback"

enum { LOOK_WALK_MOST = 2000000, LOOK_WALK_MOST_ODD = 10000 };

struct look_walk {
	int project;                /* the folder */
	struct ignore_rules *rules; /* NULL: everything is kept */
	bool collect;               /* .gitignore files are added to the rules on the way */
	const struct node *known;   /* of the last look; NULL: nothing is known */
	bool same_rules;            /* it was looked at by the same rules */
	struct content content;

	struct node root;      /* from here on: the answer */
	uint64_t files, bytes; /* entries but folders; of files */
	uint64_t odd;          /* skipped, or pipes */
	uint64_t ignored;
	bool changed; /* it is not what was known */
};

/* Returns 0, or -1 with err set. The root is the caller's to release, in both cases. */
int look_walk_take(struct look_walk *walk, struct error *err);

#endif
