/*
 * Makes room: checkpoints of loops that are gone, and, above a size, the oldest of those that matter least.
 * What is left is written into one pack, and the others are removed.
 */
#ifndef SNAPSHOT_STORE_PRUNE_H
#define SNAPSHOT_STORE_PRUNE_H

#include "snapshot/store/checkpoint_repo.h"
#include "util/list.h"

struct prune_options {
	struct list loops;   /* those whose checkpoints go */
	int64_t oldest_ms;   /* loops without a checkpoint since go, too; 0: no matter */
	const char *present; /* the loop that stays in any case; NULL: none */
	uint64_t most_bytes; /* 0: no matter */
};

struct prune_result {
	uint64_t removed; /* checkpoints */
	uint64_t bytes_before, bytes_after;
};

/* The lock is held. Checkpoint 0 and the latest one of a loop stay, whatever their size. Returns 0, or -1 with err set. */
int prune_store(struct checkpoint_repo *depot, const struct prune_options *options,
		struct prune_result *ret_result, struct error *err);

/* Is there something to do? */
bool prune_needed(struct checkpoint_repo *depot, const struct prune_options *options);

#endif
