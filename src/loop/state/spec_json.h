/*
 * What a loop was started with, as JSON in its journal: the fence's spec, decided once, so that editing a
 * file of settings in mid-run changes nothing.
 */
#ifndef LOOP_STATE_SPEC_JSON_H
#define LOOP_STATE_SPEC_JSON_H

#include "fence/fence_spec.h"

#include <jansson.h>

/* The caller owns it. Paths are meant from the folder `base`. Names of variables are kept; values only
 * where the spec has them. */
json_t *spec_json_write(const struct fence_spec *spec, const char *base);

/* The other way round; the JSON must outlive the spec. Returns 0, or -1 with err set. */
int spec_json_read(const json_t *frozen, struct fence_spec *ret_spec, struct error *err);

#endif
