/* Progress of an iteration: see progress.h. */
#include "decision/progress.h"

#include <string.h>

static bool same_tree(const struct progress_snapshot *a, const struct progress_snapshot *b)
{
	return memcmp(a->tree, b->tree, PROGRESS_TREE_SIZE) == 0;
}

bool progress_made(const struct progress_snapshot *now, const struct progress_snapshot *earlier,
		   size_t count, struct progress *ret_progress)
{
	struct progress p = { .tree = now->files_changed > 0,
			      .boxes = now->boxes_ticked > 0,
			      .checks = now->checks_passing > 0,
			      .tests = now->tests_passing > 0 };

	for (size_t i = 0; i < count; i++) {
		p.tree &= !same_tree(now, &earlier[i]);
		p.boxes &= now->boxes_ticked > earlier[i].boxes_ticked;
		p.checks &= now->checks_passing > earlier[i].checks_passing;
		p.tests &= now->tests_passing > earlier[i].tests_passing;
	}
	p.oscillates = count >= 3 && same_tree(now, &earlier[1]) &&
		       same_tree(&earlier[0], &earlier[2]) && !same_tree(now, &earlier[0]);
	if (ret_progress)
		*ret_progress = p;
	return p.tree || p.boxes || p.checks || p.tests;
}
