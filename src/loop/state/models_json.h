/* A loop's model access as JSON, for its journal. */
#ifndef LOOP_STATE_MODELS_JSON_H
#define LOOP_STATE_MODELS_JSON_H

#include "provider/model_access.h"

#include <jansson.h>

/* The caller owns the result. It names the sources of keys, never the keys. */
json_t *models_json_write(const struct model_access *access);

/*
 * Reads an object, or the array of texts that versions up to 0.1.0 wrote. NULL: no models. Returns
 * 0, or -1 with err set.
 */
int models_json_read(const json_t *json, struct model_access *ret_access, struct error *err);

#endif
