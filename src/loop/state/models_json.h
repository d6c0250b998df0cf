/* The way to models of a loop as JSON, for its journal. */
#ifndef LOOP_STATE_MODELS_JSON_H
#define LOOP_STATE_MODELS_JSON_H

#include "provider/model_access.h"

#include <jansson.h>

/* The caller owns it. Keys are not in it, only where they are. */
json_t *models_json_write(const struct model_access *access);

/* Reads it, or the array of texts that versions up to 0.1.0 wrote. NULL: there are no models.
 * Returns 0, or -1 with err set. */
int models_json_read(const json_t *json, struct model_access *ret_access, struct error *err);

#endif
