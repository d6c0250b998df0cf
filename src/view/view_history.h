/* The history of a loop as its journal has it: an object for each attempt at an iteration, with
 * everything that was recorded. Texts are untrusted, and not escaped. */
#ifndef VIEW_VIEW_HISTORY_H
#define VIEW_VIEW_HISTORY_H

#include "loop/client.h"

#include <jansson.h>

struct view_history {
	json_t *list; /* oldest first */
	json_t *told; /* messages of the user that no iteration has ended with yet */
};

/* Returns 0 with arrays that the caller owns, or -1 with err set. */
int view_history_read(const struct client_loop *loop, struct view_history *ret_history,
		      struct error *err);

#endif
