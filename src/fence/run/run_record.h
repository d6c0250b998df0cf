/*
 * Files that Ringfence keeps on disk about runs.
 *
 *	STATE/runs/ID		the record of a run in progress, locked by ringfence and by init
 *	STATE/quarantine/ID/	entries that the sweep of that run moved out of the project
 *	STATE/hidden/		an unreadable file and folder, mounted over hidden paths inside
 *	STATE/etc/		copies of the public part of /etc (see etc.h)
 *	STATE/canary		a file that nothing inside a fence may ever open
 *	STATE/sockets/		default location of the server sockets for --listen
 *
 * If this ringfence is killed, a later one sweeps by the record. It lists the writable places, and
 * the entries in them that the host would execute and that existed before the run.
 */
#ifndef FENCE_RUN_RUN_RECORD_H
#define FENCE_RUN_RUN_RECORD_H

#include "fence/fence_plan.h"
#include "util/file/state_folder.h"

struct run_record {
	char *id;
	char *path;
	int lock; /* open on the record and locked */
};

/* Creates the state folders. Returns 0, or -1 with err set. */
int run_record_prepare(const char *state, struct error *err);

/* Creates the record. Returns 0, or -1 with err set and nothing left behind. */
int run_record_begin(const struct fence_plan *plan, struct run_record *ret_run, struct error *err);

/* Waits until the record is on disk. Nothing may run before: after a power cut, the sweep depends on
 * it. Returns 0, or -1 with err set. */
int run_record_sync(const struct run_record *run, struct error *err);

/* Sweeps the writable places, removes the record and releases `run`. Returns 0, or -1 with err set
 * if an entry could not be moved. */
int run_record_end(struct run_record *run, const struct fence_plan *plan, struct fence_found *found,
		   struct error *err);

/* Sweeps and removes every run whose ringfence and init are gone, and adds the entries found to
 * plan->recovered. Returns 0, or -1 with err set. */
int run_record_recover(struct fence_plan *plan, struct error *err);

#endif
