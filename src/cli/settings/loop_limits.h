/* The limits of a loop: which settings they are, and what the journal calls them. One table for run, which sets them, and
 * resume, which changes them; what ends a loop names one of these. */
#ifndef CLI_SETTINGS_LOOP_LIMITS_H
#define CLI_SETTINGS_LOOP_LIMITS_H

#include "config/config.h"

#include <jansson.h>
#include <stdbool.h>

bool loop_limits_has(const struct setting *setting);

/* Sets one of them in what the journal gets. */
void loop_limits_set(json_t *frozen, const struct setting *setting, uint64_t number);

/* Sets all of them, as they are configured. */
void loop_limits_freeze(json_t *frozen, const struct config *config);

#endif
