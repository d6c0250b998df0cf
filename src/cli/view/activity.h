/* What an agent does at the moment, as far as its output tells. */
#ifndef CLI_VIEW_ACTIVITY_H
#define CLI_VIEW_ACTIVITY_H

#include "loop/client.h"

/* In a line, from the end of the transcript; NULL: nothing is known. The caller frees. */
char *activity_now(const struct client_loop *loop);

/* Where the output of an iteration is; the caller frees. */
char *activity_log(const struct client_loop *loop, unsigned int iteration, unsigned int attempt);

#endif
