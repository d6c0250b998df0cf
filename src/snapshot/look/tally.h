/*
 * What a loop wants to know about a look: how much there is, a hash by which a state is recognised
 * that was there before, and how many files differ from a checkpoint. Folders that tools make
 * (generated.h) do not count.
 */
#ifndef SNAPSHOT_LOOK_TALLY_H
#define SNAPSHOT_LOOK_TALLY_H

#include "snapshot/store/checkpoint_repo.h"
#include "util/sha256.h"

struct tally {
	uint64_t files, bytes;
	char tree[SHA256_HEX];
};

/* Counts the tree of a look. */
void tally_take(const struct node *root, struct tally *ret_tally);

/*
 * Counts the files and symlinks that are new, gone, or have other content than in a checkpoint. Reads
 * only the folders that differ. Returns 0, or -1 with err set.
 */
int tally_changed(struct checkpoint_repo *repo, const struct checkpoint_repo_item *since,
		  const struct node *root, uint64_t *ret_changed, struct error *err);

#endif
