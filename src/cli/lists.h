/* The lists of tasks that a command names. */
#ifndef CLI_LISTS_H
#define CLI_LISTS_H

#include "util/error.h"
#include "worklist/worklist.h"

#include <jansson.h>

/* Reads these files, and resolves what depends on what. *ret_paths is an array of their names and
 * real paths, which the caller owns. Returns 0, or -1 with err set. */
int lists_read(char *const *files, struct worklist *ret_list, json_t **ret_paths,
	       struct error *err);

#endif
