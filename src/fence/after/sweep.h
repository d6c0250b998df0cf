/*
 * The sweep: moves new entries that the host would execute, or read as configuration, out of the
 * writable places.
 *
 * It works from a record (tagged as in wire.h) of what the plan knew, so that another ringfence can
 * do it later if this one is killed.
 */
#ifndef FENCE_AFTER_SWEEP_H
#define FENCE_AFTER_SWEEP_H

#include "fence/fence_plan.h"

/* sweep_record() writes a plan's record; sweep() sweeps by a record. Returns 0, or -1 with err
 * set. */
void sweep_record(const struct fence_plan *plan, struct buffer *record);
int sweep(const char *bytes, size_t size, const char *quarantine_folder, const char *id,
	  struct fence_found *found, struct error *err);

/* Reports whether a record's project or writable places overlap with path. False if the record is
 * damaged. */
bool sweep_concerns(const char *bytes, size_t size, const char *path);

#endif
