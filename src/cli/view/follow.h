/*
 * A loop in the foreground: plain lines as things happen, until it ends or the person goes. As JSON, a line
 * is an object: an event as the journal has it, without what only Ringfence needs, then the result.
 */
#ifndef CLI_VIEW_FOLLOW_H
#define CLI_VIEW_FOLLOW_H

#include "loop/client.h"

/* Follows from behind this event on. Returns the exit status (loops.h). */
int follow_loop(struct client_loop *loop, int64_t after, bool json);

#endif
