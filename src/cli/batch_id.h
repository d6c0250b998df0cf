/* The id of a batch where a command takes that of a loop. */
#ifndef CLI_BATCH_ID_H
#define CLI_BATCH_ID_H

#include "util/error.h"

#include <stdbool.h>

/* Is this the id of a batch, although the command takes that of a loop? Then err says what to do
 * instead. */
bool batch_id_refuse(const char *state, const char *command, const char *id, struct error *err);

#endif
