/* Asks on the terminal which parts of a draft to apply, as `git add -p` does. */
#ifndef CLI_PICK_H
#define CLI_PICK_H

#include "ops/op_draft_apply.h"

/* The parts that the user has left out. */
struct pick {
	struct op_draft_apply_part *parts;
	size_t count;
	size_t taken; /* how many parts were taken */
};

/* Asks about each hunk of the changes, which were previewed with hunks, and about each file that
 * has none. The caller releases the result. */
void pick_ask(const struct apply_changes *changes, struct pick *ret_pick);
void pick_release(struct pick *pick);

#endif
