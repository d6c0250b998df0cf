/*
 * Reads the tree of a checkpoint folder by folder, so that a task costs what it looks at.
 *
 * A closed folder (node.h) is one whose entries were not read. It contains nothing that a manifest
 * (manifest.h) records: the folders above such an entry are open from the start.
 */
#ifndef SNAPSHOT_STORE_TREE_READER_H
#define SNAPSHOT_STORE_TREE_READER_H

#include "snapshot/store/checkpoint_repo.h"
#include "snapshot/store/manifest.h"

struct tree_reader {
	struct checkpoint_repo *repo;
	struct manifest_head head;
	uint64_t trees; /* folders read so far */
};

/* Begins to read a tree. The caller releases the root. Like the functions below, it returns 0, or
 * -1 with err set. */
int tree_reader_start(struct tree_reader *reader, struct checkpoint_repo *repo, const git_oid *tree,
		      struct node *ret_root, struct error *err);

/* Reads the entries of a folder, or of all folders at and below it, unless it is open. */
int tree_reader_open(struct tree_reader *reader, struct node *folder, struct error *err);
int tree_reader_open_all(struct tree_reader *reader, struct node *folder, struct error *err);

/* Finds the node at a path, as node_at() does; *ret_node is NULL if there is none. */
int tree_reader_at(struct tree_reader *reader, struct node *root, const char *path,
		   struct node **ret_node, struct error *err);

/* Calls `look` for every node below a folder, as node_each() does, and returns its first result
 * that is not 0; or -1 with err set, if a folder cannot be read. */
int tree_reader_each(struct tree_reader *reader, struct node *folder, node_fn *look, void *context,
		     struct error *err);

/* Reads all folders that may differ between two trees. All of the others are closed afterwards,
 * in both trees; a folder that only one of them has is open with everything below it. */
int tree_reader_open_differing(struct tree_reader *old_reader, struct node *old,
			       struct tree_reader *new_reader, struct node *new, struct error *err);

/* Returns the size of a file in the repository, or -1 if it cannot be read. Trees have the sizes of
 * chunked files alone. */
int64_t tree_reader_size(const struct checkpoint_repo *repo, const struct node *file);

/* Loads a complete tree. The caller releases it. */
int tree_reader_load(struct checkpoint_repo *repo, const git_oid *tree, struct node *ret_root,
		     struct error *err);

#endif
