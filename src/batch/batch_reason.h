/* Why a task waits for a person or has failed, in one line. */
#ifndef BATCH_BATCH_REASON_H
#define BATCH_BATCH_REASON_H

#include "loop/client.h"

/* Returns why a loop has ended, with the check that fails. The caller frees it. */
char *batch_reason_of_end(const struct client_loop *loop);

/* Returns why a loop is paused, with what answers an agent that is blocked. The caller frees it. */
char *batch_reason_of_pause(const struct client_loop *loop);

#endif
