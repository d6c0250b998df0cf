/*
 * Frees space: removes the checkpoints of deleted and old loops and, above a size limit, the oldest
 * of the least important checkpoints. The remaining ones are rewritten into one pack.
 */
#ifndef SNAPSHOT_STORE_PRUNE_H
#define SNAPSHOT_STORE_PRUNE_H

#include "snapshot/store/checkpoint_repo.h"
#include "util/list.h"

struct prune_options {
	struct list loops;   /* loops whose checkpoints are removed */
	int64_t oldest_ms;   /* remove loops without a newer checkpoint; 0: no limit */
	const char *present; /* a loop that is always kept, or NULL */
	uint64_t most_bytes; /* 0: no limit */
};

struct prune_result {
	uint64_t removed; /* checkpoints */
	uint64_t bytes_before, bytes_after;
};

/*
 * The caller holds the lock. Checkpoint 0 and the latest checkpoint of a loop are kept, whatever
 * their size; and of a draft, also if it is old, all that is needed to apply it or to undo that.
 * Returns 0, or -1 with err set.
 */
int prune_store(struct checkpoint_repo *repo, const struct prune_options *options,
		struct prune_result *ret_result, struct error *err);

/* Reports whether a limit is exceeded. */
bool prune_needed(struct checkpoint_repo *repo, const struct prune_options *options);

#endif
