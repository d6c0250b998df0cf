/* The time zones of this machine, for decisions. */
#ifndef LOOP_SUPERVISE_ZONE_H
#define LOOP_SUPERVISE_ZONE_H

#include "decision/all.h"

/* Looks up names in the system's database. Not thread-safe. */
extern const struct civil_zone zone_system;

#endif
