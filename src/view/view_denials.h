/* The denials of one run of a loop, as the fence reported them. */
#ifndef VIEW_VIEW_DENIALS_H
#define VIEW_VIEW_DENIALS_H

#include "loop/client.h"

#include <jansson.h>

/* Returns all denials of the agent of an iteration, or of another run in it: the check "check-1."
 * and the like. An array that the caller owns; empty if there is no report. */
json_t *view_denials_read(const struct client_loop *loop, unsigned int iteration,
			  unsigned int attempt, const char *name);

/* Returns a denial as a line: what was denied, by which rule, to which program, how often. It is
 * untrusted text, not escaped. The caller frees it. */
char *view_denials_line(const json_t *denial);

#endif
