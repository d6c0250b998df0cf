/*
 * Facts about a scan that the loop uses: the number of files and bytes, a hash that identifies a
 * recurring state, and the number of files that changed since a checkpoint. Generated folders
 * (generated.h) do not count.
 */
#ifndef SNAPSHOT_LOOK_TALLY_H
#define SNAPSHOT_LOOK_TALLY_H

#include "snapshot/store/checkpoint_repo.h"
#include "util/text/sha256.h"

struct tally {
	uint64_t files, bytes;
	char tree[SHA256_HEX];
};

void tally_count(const struct node *root, struct tally *ret_tally);

/*
 * Counts the files and symlinks that were added, removed or modified since a checkpoint. Reads only
 * the folders that differ. Returns 0, or -1 with err set.
 */
int tally_changed(struct checkpoint_repo *repo, const struct checkpoint_repo_item *since,
		  const struct node *root, uint64_t *ret_changed, struct error *err);

#endif
