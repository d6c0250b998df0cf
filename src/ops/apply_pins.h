/* The pinned files (project/pins.h) that the agent of a loop changed: they decide whether its work
 * is good, so each of them is a proposal that needs a yes. */
#ifndef OPS_APPLY_PINS_H
#define OPS_APPLY_PINS_H

#include "loop/client.h"

/* Finds them between the first checkpoint of a loop and the one with the number `to`. *ret_pins has
 * an entry for each path, or is NULL if the checks of the loop pin nothing; the caller releases it.
 * Returns 0, or -1 with err set. */
int apply_pins_find(const char *state, const struct client_loop *loop, int64_t to,
		    json_t **ret_pins, struct error *err);

/* Returns why the change of a path needs a yes, or NULL if it is not one of them. pins may be
 * NULL. */
const char *apply_pins_why(const json_t *pins, const char *path);

#endif
