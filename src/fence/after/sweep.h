/*
 * The sweep: takes out of the writable places what the host would execute, or read as configuration, and
 * was not there before.
 *
 * It works by a record (tagged as in wire.h) of what the plan knew, so that it can be made later, by
 * another ringfence, should this one be killed.
 */
#ifndef FENCE_AFTER_SWEEP_H
#define FENCE_AFTER_SWEEP_H

#include "fence/fence_plan.h"

/* Writes a plan's record, and sweeps by a record. */
void sweep_record(const struct fence_plan *plan, struct buffer *record);
int sweep(const char *bytes, size_t size, const char *quarantine_folder, const char *id,
	  struct fence_found *found, struct error *err);

/* Is the record about this path: its project, or a place that it may write? False if it is damaged. */
bool sweep_concerns(const char *bytes, size_t size, const char *path);

#endif
