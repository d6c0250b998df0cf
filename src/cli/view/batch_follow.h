/* A batch in the foreground: prints a line for each event, until it ends, pauses or the user
 * detaches. */
#ifndef CLI_VIEW_BATCH_FOLLOW_H
#define CLI_VIEW_BATCH_FOLLOW_H

#include "batch/batch_client.h"

/* Follows the batch from the event after number `after`. Returns the exit status (loops.h). */
int batch_follow(struct batch_client *batch, int64_t after, bool json);

#endif
