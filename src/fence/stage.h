/*
 * A stage: a mount namespace of root's own, in which the sources of a fence lie where the uid that
 * makes it can reach them.
 *
 * Only real root with a project of root's needs it. The user's folders are lent on it (idmapped:
 * root's files belong to the uid), and what is behind folders that only root may enter is brought
 * forward. A stage that was not begun changes nothing.
 */
#ifndef FENCE_STAGE_H
#define FENCE_STAGE_H

#include "fence/fence.h"

struct stage {
	const char *place; /* NULL: not begun */
	unsigned int count;
	int mapping; /* the user namespace that says whose files become whose */
};

#define STAGE_INIT ((struct stage){ .mapping = -1 })

/* In a child process: begins. Returns 0, or -1 with err set. */
int stage_begin(struct stage *stage, const struct fence_plan *plan, struct error *err);

/*
 * Puts what fd is open on (O_PATH; taken over) onto the stage, lent or as it is. Returns a
 * descriptor of it there (or fd itself if there is no stage), or -1 with err set.
 */
int stage_put(struct stage *stage, int fd, bool lend, struct error *err);

#endif
