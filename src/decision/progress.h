/*
 * Did an iteration get anywhere?
 *
 * Progress is a change to files that leads to a tree not seen in the iterations before, or more
 * boxes ticked, more checks passing or more tests passing than in any of them. Going back and forth
 * between trees is none, and neither is winning back what the last iteration broke.
 */
#ifndef DECISION_PROGRESS_H
#define DECISION_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_TREE_SIZE = 32 };

struct progress_snapshot {
	unsigned char
		tree[PROGRESS_TREE_SIZE]; /* a hash of all files; a shorter one is filled with 0 */
	uint32_t files_changed;           /* by this iteration */
	uint32_t boxes_ticked;
	uint32_t checks_passing;
	int64_t tests_passing;
};

struct progress {
	bool tree; /* a new one */
	bool boxes;
	bool checks;
	bool tests;
	bool oscillates; /* A, B, A, B */
};

/*
 * Compares with count earlier snapshots, the latest first; the baseline before iteration 1 is one.
 * How many are passed is how far back a tree counts as seen. Returns whether there was progress;
 * ret may be NULL.
 */
bool progress_made(const struct progress_snapshot *now, const struct progress_snapshot *earlier,
		   size_t count, struct progress *ret_progress);

#endif
