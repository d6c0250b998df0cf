/*
 * Checks what the commits of an agent change, path by path, against two things that git inside the
 * fence does right, and other programs may not:
 *
 * - A file in Git LFS is committed as a pointer. Its content is copied from the private LFS store
 *   to the user's, so that the commit is never there without it.
 * - A file that the fence hides stays as it is. Inside it looks empty, or not there.
 *
 * A commit that is already in the user's repository was checked before, or is the user's.
 */
#ifndef SNAPSHOT_GIT_IMPORT_CHECK_H
#define SNAPSHOT_GIT_IMPORT_CHECK_H

#include "lfs/lfs_rules.h"
#include "snapshot/git/hidden_paths.h"
#include "snapshot/object/object_source.h"
#include "snapshot/object/seen.h"
#include "util/buffer.h"

#include <git2.h>

struct import_check {
	struct object_source *source;
	git_odb *user;
	const struct hidden_paths *hidden;
	int from;                     /* the private LFS objects, or -1 */
	int to;                       /* the user's LFS store, or -1 */
	char *temporary;              /* a file name for the user's LFS store */
	uint64_t left;                /* bytes that may still be copied */
	struct lfs_rules *user_rules; /* of info/attributes, or NULL */

	/* Of the check itself. */
	struct seen commits; /* passed */
	struct buffer path;
	uint64_t entries; /* that were looked at */
	struct import_check_file {
		unsigned char id[FSCK_ID];
		const struct lfs_rules *root;
		struct lfs_rules *rules;
	} * files; /* every .gitattributes that was read */
	size_t file_count;
	struct import_check_scope {
		const struct lfs_rules *rules;
		size_t base;        /* the length of its folder's path */
	} scopes[FSCK_DEEPEST + 1]; /* of the folders above, and the current one */
	size_t scope_count;
};

/*
 * Checks the commits that a tip brings: a commit, or a tag of one. Everything it refers to must be
 * there. Returns 0, or -1 with err set.
 */
int import_check_tip(struct import_check *check, const unsigned char id[FSCK_ID],
		     struct error *err);

/* Finds the tree of a commit. Returns 0, or -1 with err set. */
int import_check_tree(struct import_check *check, const git_oid *commit, git_oid *ret_tree,
		      struct error *err);

/* Calls `found` for each file of a tree, until it returns -1. Returns 0, or -1 with err set. */
typedef int import_check_fn(void *context, const char *path, uint32_t mode,
			    const unsigned char id[FSCK_ID], struct error *err);
int import_check_each(struct import_check *check, const git_oid *tree, import_check_fn *found,
		      void *context, struct error *err);
void import_check_release(struct import_check *check);

#endif
