/*
 * The limits of a loop: their settings and their names in the journal. One table serves run, which
 * sets them, and resume, which changes them.
 */
#ifndef SETTINGS_LOOP_LIMITS_H
#define SETTINGS_LOOP_LIMITS_H

#include "config/config.h"

#include <jansson.h>
#include <stdbool.h>

bool loop_limits_has(const struct setting *setting);

/* Sets one limit in the object for the journal. */
void loop_limits_set(json_t *limits, const struct setting *setting, uint64_t number);

/* Sets all limits as configured. */
void loop_limits_set_all(json_t *limits, const struct config *config);

#endif
