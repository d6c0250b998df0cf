/*
 * The sweep: moves new entries that the host would execute, or read as configuration, out of the
 * writable places of a run.
 */
#ifndef FENCE_AFTER_SWEEP_H
#define FENCE_AFTER_SWEEP_H

#include "fence/after/baseline.h"

/* Sweeps the roots of a baseline, moves what it finds to a folder called `id` in the quarantine
 * folder, and adds it to *found. Returns 0, or -1 with err set. */
int sweep(struct baseline *baseline, const char *quarantine_folder, const char *id,
	  struct fence_found *found, struct error *err);

#endif
