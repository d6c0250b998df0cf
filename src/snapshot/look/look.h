/*
 * A scan of the project: its tree in memory, with all contents in the repository. The caller makes
 * it a checkpoint, one side of a diff, or the start of a rollback.
 */
#ifndef SNAPSHOT_LOOK_LOOK_H
#define SNAPSHOT_LOOK_LOOK_H

#include "snapshot/look/ahead.h"
#include "snapshot/look/look_walk.h"
#include "snapshot/store/cache.h"
#include "snapshot/store/tree_reader.h"

struct look_options {
	const char *project;
	const char *loop; /* selects the ignore rules, and the base of a draft */
	/* The folder of the loop's draft (draft/draft.h), or NULL. The scan is then of the draft:
	 * the loop's first checkpoint with the changes of the draft over it. */
	const char *draft;
	bool ignored; /* also save ignored files */
	bool live;    /* an agent is working */
	/* Of a draft: folders that it did not change stay closed (store/tree_reader.h), and files
	 * in it that are the base's have no size. */
	bool sparse;
	/* Trees with ignored paths that are saved as well (look_walk.h); each may be NULL. Not for
	 * drafts. */
	const struct node *extra[LOOK_WALK_EXTRAS];
};

struct look {
	struct look_walk walk;
	struct cache cache;
	struct ahead *ahead; /* while it is running */
	struct ignore_rules *rules;
	char rules_hash[SHA256_HEX];
	struct pack *pack;
	struct tree_reader reader; /* of a draft: opens its closed folders */
	git_oid tree;              /* with the entries files and manifest */
	const char *notice;        /* for the user, or NULL */
};

/* Adds rules for usual caches (generated.h), and those of the user's global git configuration. */
void look_add_user_rules(struct ignore_rules *rules);

/*
 * look_scan() scans; the caller holds the lock. The objects are in the repository once
 * look_finish() has returned. Both return 0, or -1 with err set; the caller releases `look` in both
 * cases.
 */
int look_scan(struct checkpoint_repo *repo, const struct look_options *options, struct look *look,
	      struct error *err);
int look_finish(struct checkpoint_repo *repo, struct look *look, struct error *err);
void look_release(struct look *look);

/*
 * Scans only the changes of the draft at options->draft, with their contents (tree_layer.h). The
 * caller finishes look->pack, and releases `look` and the layers in all cases. Returns 0, or -1
 * with err set.
 */
int look_scan_layer(struct checkpoint_repo *repo, const struct look_options *options,
		    struct draft_layer_root *ret_layers, struct look *look, struct error *err);

/*
 * Makes a look of a tree that no scan has made, as if one had. Folders that have an id keep it; the
 * others are written to look->pack, which is set. Takes the tree over. Returns 0, or -1 with err
 * set.
 */
int look_set_tree(struct look *look, struct node *tree, struct error *err);

#endif
