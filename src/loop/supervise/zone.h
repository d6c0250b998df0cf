/* Time zones of this machine, for the guard, which has none of its own. */
#ifndef LOOP_SUPERVISE_ZONE_H
#define LOOP_SUPERVISE_ZONE_H

#include "decision/all.h"

/* Names are looked up in the system's database. Not for a process with threads. */
extern const struct civil_zone zone_system;

#endif
