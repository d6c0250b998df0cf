/*
 * A loop that begins with the result of another loop of the project, instead of with the project.
 *
 * Its draft gets all changes of the other one, and its git HEAD is the other one's last commit. The
 * base of its changes stays the other one's base, so that an apply takes over all of them. The
 * changes of a third loop can be merged into this; conflicts are marked in the files, and named in
 * the prompt.
 */
#ifndef OPS_OP_START_FROM_H
#define OPS_OP_START_FROM_H

#include "loop/client.h"
#include "util/list.h"

struct op_start_from {
	struct client_loop from; /* without an id: the loop begins with the project */
	struct client_loop with; /* without an id: nothing is merged */
};

/* Finds the loops. Either id may be NULL, and the second one is nothing without the first. Returns
 * 0, or -1 with err set: they must be of this project, with drafts that nobody uses. */
int op_start_from_find(const char *state, const char *project, const char *from, const char *with,
		       struct op_start_from *ret_from, struct error *err);
void op_start_from_release(struct op_start_from *from);

/* Adds them to the configuration of the new loop. */
void op_start_from_config(const struct op_start_from *from, json_t *config);

/* Makes the base of the first loop that of the new one. Returns 0, or -1 with err set. */
int op_start_from_base(const char *state, const struct op_start_from *from, const char *id,
		       struct error *err);

/* The conflicts of a merge: a sentence and a path each. */
struct op_start_from_conflicts {
	struct list texts, paths;
};

/* Fills the draft of the new loop, which was just made, and adds the conflicts. Returns 0, or -1
 * with err set. */
int op_start_from_fill(const char *state, const struct op_start_from *from, const char *id,
		       const char *draft, struct op_start_from_conflicts *conflicts,
		       struct error *err);

#endif
