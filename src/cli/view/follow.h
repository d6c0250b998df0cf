/*
 * A loop in the foreground: prints plain lines as events arrive, until the loop ends or the user
 * detaches. In JSON mode each line is an object: events as in the journal, without internal fields,
 * then the result.
 */
#ifndef CLI_VIEW_FOLLOW_H
#define CLI_VIEW_FOLLOW_H

#include "loop/client.h"

/* Follows the loop from the event after number `after`. Returns the exit status (loops.h). */
int follow_loop(struct client_loop *loop, int64_t after, bool json);

#endif
