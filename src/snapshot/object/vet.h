/*
 * Trees as a whole. What the user's own trees hold is the user's, however odd; anything else is checked, and so is what is in
 * files that git reads by itself (.gitmodules, .gitattributes), wherever their bytes come from.
 */
#ifndef SNAPSHOT_OBJECT_VET_H
#define SNAPSHOT_OBJECT_VET_H

#include "snapshot/object/seen.h"

#include <git2.h>

struct vet {
	git_odb *objects;
	struct seen trees;    /* known, with all that is below */
	struct seen specials; /* blobs that are such a file in one of them */
};

/* Takes a tree, or that of a commit, for the user's, as far as it can be read. */
void vet_learn(struct vet *vet, const git_oid *id);

/* Checks a tree with all that is below. Returns 0, or -1 with err set: a part of a sentence, as fsck_object(). */
int vet_tree(struct vet *vet, const git_oid *tree, struct error *err);

/* Is it, a tree or that of a commit, no deeper than anybody needs? Otherwise nobody should walk through it, us included. */
int vet_depth(struct vet *vet, const git_oid *id, struct error *err);

/* Checks a file that git reads by itself. One of the user's is fine. */
int vet_special(const struct vet *vet, const struct fsck_link *link, struct error *err);

void vet_release(struct vet *vet);

#endif
