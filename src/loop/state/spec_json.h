/*
 * The fence's spec as JSON in the journal: it is fixed when the loop starts, so that editing a
 * settings file in mid-run changes nothing.
 */
#ifndef LOOP_STATE_SPEC_JSON_H
#define LOOP_STATE_SPEC_JSON_H

#include "fence/fence_spec.h"

#include <jansson.h>

/*
 * The caller owns the result. Paths are relative to the folder `base`. Names of variables are
 * stored; values only where the spec has them.
 */
json_t *spec_json_write(const struct fence_spec *spec, const char *base);

/* The inverse; the JSON must outlive the spec. Returns 0, or -1 with err set. */
int spec_json_read(const json_t *json, struct fence_spec *ret_spec, struct error *err);

#endif
