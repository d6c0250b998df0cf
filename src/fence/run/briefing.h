/* Writes the order for init (wire.h), except for the file tree (tree_describe()). */
#ifndef FENCE_RUN_BRIEFING_H
#define FENCE_RUN_BRIEFING_H

#include "fence/fence_plan.h"

struct briefing {
	const struct fence_plan *plan;
	const char *abstract; /* name of an abstract socket on the host, for the canary */
	uint32_t terminal;    /* bit N: descriptor N becomes the fence's own terminal */
	struct wire_limits limits;
	bool asks_opens; /* see struct wire_flags */
	int outer;       /* the caller's terminal, for its size; or -1 */
};

/* Appends the records to `order`. Returns 0, or -1 with err set. */
int briefing_write(struct buffer *order, const struct briefing *briefing, struct error *err);

#endif
