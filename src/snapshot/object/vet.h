/*
 * Checks whole trees. Trees that belong to the user are accepted, however odd; all others are
 * checked, and so are files that git itself reads (.gitmodules, .gitattributes), wherever their
 * bytes come from.
 */
#ifndef SNAPSHOT_OBJECT_VET_H
#define SNAPSHOT_OBJECT_VET_H

#include "snapshot/object/seen.h"

#include <git2.h>

struct vet {
	git_odb *objects;
	struct seen trees;    /* accepted, including everything below */
	struct seen specials; /* blobs that are special files in one of them */
};

/* Accepts a tree, or the tree of a commit, as the user's, as far as it can be read. */
void vet_accept(struct vet *vet, const git_oid *id);

/*
 * Checks a tree and everything below. Returns 0, or -1 with err set to a noun phrase, as
 * fsck_object() does.
 */
int vet_tree(struct vet *vet, const git_oid *tree, struct error *err);

/* Checks that a tree, or the tree of a commit, is not nested too deeply to be walked. */
int vet_depth(struct vet *vet, const git_oid *id, struct error *err);

/* Checks a file that git itself reads. The user's own are accepted. */
int vet_special(const struct vet *vet, const struct fsck_link *link, struct error *err);

void vet_release(struct vet *vet);

#endif
