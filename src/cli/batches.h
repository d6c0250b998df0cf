/* Lists of batches. */
#ifndef CLI_BATCHES_H
#define CLI_BATCHES_H

#include "batch/batch_client.h"

#include <jansson.h>
#include <stdbool.h>

/* Is the result of a batch in the project? */
bool batches_is_applied(const char *state, const struct batch_client *batch);

/* Are the commits of its result in a branch of the user's? */
bool batches_has_commits(const char *state, const struct batch_client *batch);

/* Is a batch with this id there? The context is a struct batch_clients. */
bool batches_has(void *context, const char *id);

/* Returns the batches of a project, or of all if that is NULL, the newest `most`, oldest first,
 * without their tasks. The caller owns the list. */
json_t *batches_json(const struct batch_clients *batches, const char *state, const char *project,
		     size_t most);

/* Prints the batches of a project, newest first, or a JSON object. Returns the exit status. */
int batches_print(const char *state, const char *project, bool json);

#endif
