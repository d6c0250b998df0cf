/*
 * Facts about a scan that the loop uses: a hash that identifies a recurring state, and the number
 * of files that changed since a checkpoint. Generated folders (generated.h) do not count.
 */
#ifndef SNAPSHOT_LOOK_TALLY_H
#define SNAPSHOT_LOOK_TALLY_H

#include "snapshot/store/tree_reader.h"
#include "util/text/sha256.h"

/* Folders may be closed. */
void tally_hash(const struct node *root, char ret_hash[SHA256_HEX]);

/*
 * Counts the files and symlinks that were added, removed or modified since a checkpoint. Reads only
 * the folders that differ; the reader opens those of the scan. Returns 0, or -1 with err set.
 */
int tally_changed(struct tree_reader *reader, const struct checkpoint_repo_item *since,
		  struct node *root, uint64_t *ret_changed, struct error *err);

#endif
