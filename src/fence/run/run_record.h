/*
 * What Ringfence keeps on disk about a run.
 *
 *	STATE/runs/ID		the record of a run that goes on, locked by ringfence and by init
 *	STATE/quarantine/ID/	what the sweep of that run took out of the project
 *	STATE/hidden/		an unreadable file and folder: what hidden things look like inside
 *	STATE/etc/		copies of the public part of /etc (see etc.h)
 *	STATE/canary		a file that nothing inside a fence may ever open
 *	STATE/sockets/		where --listen looks for servers that have no path of their own
 *
 * A record says what a later ringfence must know to sweep, should this one be killed: the writable
 * places, and what the host would execute there that was there before.
 */
#ifndef FENCE_RUN_RUN_RECORD_H
#define FENCE_RUN_RUN_RECORD_H

#include "fence/fence_plan.h"
#include "util/state_folder.h"

struct run_record {
	char *id;
	char *path; /* of the record */
	int lock;   /* open on it, locked */
};

/* Makes the folders of the state. Returns 0, or -1 with err set. */
int run_record_prepare(const char *state, struct error *err);

/* Makes the record. Returns 0, or -1 with err set and nothing left behind. */
int run_record_begin(const struct fence_plan *plan, struct run_record *ret_run, struct error *err);

/* Sweeps the writable places and removes the record. Returns 0, or -1 with err set if something
 * could not be moved. */
int run_record_end(struct run_record *run, const struct fence_plan *plan, struct fence_found *found,
		   struct error *err);

/* Does the same for every run whose ringfence and init are gone; what it found is in
 * plan->recovered. */
int run_record_recover(struct fence_plan *plan, struct error *err);

#endif
