/* The agent's current activity, as far as its output shows it. */
#ifndef VIEW_ACTIVITY_H
#define VIEW_ACTIVITY_H

#include "loop/client.h"

/* Describes it in one line, from the end of the transcript. Returns NULL if nothing is known; the
 * caller frees. */
char *activity_now(const struct client_loop *loop);

/* The path of an iteration's output; the caller frees. */
char *activity_log(const struct client_loop *loop, unsigned int iteration, unsigned int attempt);

#endif
