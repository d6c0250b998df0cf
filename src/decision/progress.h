/*
 * Progress of an iteration.
 *
 * Progress is a change to files that leads to a tree not seen in earlier iterations, or more boxes
 * ticked, more checks passing or more tests passing than in any of them. Alternating between trees
 * is not progress, and neither is repairing what the last iteration broke.
 */
#ifndef DECISION_PROGRESS_H
#define DECISION_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_TREE_SIZE = 32 };

struct progress_snapshot {
	unsigned char
		/* a hash of all files; shorter hashes are padded with 0 */
		tree[PROGRESS_TREE_SIZE];
	uint32_t files_changed; /* by this iteration */
	uint32_t boxes_ticked;
	uint32_t checks_passing;
	int64_t tests_passing;
};

struct progress {
	bool tree; /* a tree not seen before */
	bool boxes;
	bool checks;
	bool tests;
	bool oscillates; /* A, B, A, B */
};

/*
 * Compares with `count` earlier snapshots, latest first, including the baseline before iteration 1.
 * A tree counts as seen only if it is among them. Returns whether there was progress. ret_progress
 * may be NULL.
 */
bool progress_made(const struct progress_snapshot *now, const struct progress_snapshot *earlier,
		   size_t count, struct progress *ret_progress);

#endif
