/*
 * The sweep: moves new entries that the host would execute, or read as configuration, out of the
 * writable places of a run.
 */
#ifndef FENCE_AFTER_SWEEP_H
#define FENCE_AFTER_SWEEP_H

#include "fence/after/baseline.h"

/* Reports whether another run, which has not been swept yet, may have made the entry at a path. */
typedef bool sweep_left_fn(void *context, const char *path);

struct sweep_place {
	const char *quarantine; /* the folder of all quarantines */
	const char *state;      /* the state folder, for the list of what is moved; NULL: none */
	const char *id;         /* of the run */
	sweep_left_fn *left;
	void *context;
	const char *search;   /* where else a root may be that was moved; NULL: nowhere */
	struct list *notices; /* gets a notice for each root that was moved */
};

/* Sweeps the roots of a baseline, wherever they are now, moves entries to the run's folder in the
 * quarantine, and adds them to *found. Returns 0, or -1 with err set, also if a root that is not
 * held cannot be found. */
int sweep(struct baseline *baseline, const struct sweep_place *place, struct fence_found *found,
	  struct error *err);

#endif
