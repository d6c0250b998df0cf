/*
 * Scans a project into a tree of nodes, and stores every content in the repository. Nothing in the
 * project is read as configuration, nothing is executed, and no symlink is followed.
 *
 * The scan omits the project's own .git, other file systems and ignored files, except those that
 * the caller asks for. Anything else that cannot be saved becomes a skipped node.
 */
#ifndef SNAPSHOT_LOOK_LOOK_WALK_H
#define SNAPSHOT_LOOK_LOOK_WALK_H

#include "draft/draft_layer.h"
#include "snapshot/look/content.h"
#include "snapshot/look/ignore_rules.h"
#include "snapshot/store/node.h"
#include "snapshot/store/pack.h"

/* The staging folder of a rollback, at the root of the project. */
#define LOOK_WALK_STAGE ".ringfence-rollback"

enum { LOOK_WALK_MOST = 2000000, LOOK_WALK_MOST_ODD = 10000, LOOK_WALK_EXTRAS = 2 };

struct look_walk {
	int project;                /* descriptor of its folder */
	struct ignore_rules *rules; /* NULL: save everything */
	bool collect;               /* add the .gitignore files that are found to the rules */
	const struct node *known;   /* the last scan, or NULL */
	bool same_rules;            /* the last scan had the same rules */
	/* The changes of a draft, or NULL. Only these are scanned then (tree_layer.h): no trees are
	 * written, and deleted files become NODE_WHY_DELETED. */
	const struct draft_layer *layer;
	/* Ignored paths that one of these trees has are scanned as well, with everything below them
	 * if the tree has no folder there, or an opaque one. Each may be NULL. */
	const struct node *extra[LOOK_WALK_EXTRAS];
	struct content content;

	struct node root;      /* from here on: the result */
	uint64_t files, bytes; /* entries other than folders; bytes of files */
	uint64_t odd;          /* skipped entries and pipes */
	uint64_t ignored;
	uint64_t included;    /* ignored entries that are scanned because of `extra` */
	bool changed;         /* differs from the last scan */
	bool ignored_changed; /* of a layer: the draft changed ignored files */
};

/* Writes the git tree of a folder whose entries are complete, and sets its id. Returns 0, or -1
 * with err set. */
int look_walk_write_tree(struct pack *pack, struct node *folder, struct error *err);

/* Returns 0, or -1 with err set. The caller releases the root in both cases. */
int look_walk_scan(struct look_walk *walk, struct error *err);

#endif
