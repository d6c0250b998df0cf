/*
 * Files that Ringfence keeps on disk about runs.
 *
 *	STATE/runs/ID		the record of a run in progress, locked by ringfence and by init;
 *				its mode is 0640 during the sweep, and 0700 after it
 *	STATE/scan.lock		locked by each ringfence that scans a project (shared), or that
 *				removes a record
 *	STATE/quarantine/ID/	entries that the sweep of that run moved out of the project
 *	STATE/quarantined/ID	the list of these (fence_kept.h)
 *	STATE/hidden/		an unreadable file and folder, mounted over hidden paths inside
 *	STATE/etc/		copies of the public part of /etc (see etc.h)
 *	STATE/canary		a file that nothing inside a fence may ever open
 *	STATE/sockets/		default location of the server sockets for --listen
 *
 * The record holds the baseline of the run (see baseline.h). If this ringfence is killed, a later
 * one sweeps by the record. A ringfence that starts beside it does not take for the user's what is
 * new to this run. For that, no record may vanish while a project is scanned: it is removed later,
 * by the next ringfence that starts or ends while nobody scans.
 */
#ifndef FENCE_RUN_RUN_RECORD_H
#define FENCE_RUN_RUN_RECORD_H

#include "fence/fence_plan.h"
#include "util/file/state_folder.h"

struct run_record {
	char *id;
	char *path;
	int lock; /* open on the record and locked */
	struct buffer record;
	int *roots; /* open on the writable folders, which another run may move */
	size_t root_count;
};

/* Creates the state folders. Returns 0, or -1 with err set. */
int run_record_prepare(const char *state, struct error *err);

/* Creates the record. Returns 0, or -1 with err set and nothing left behind. */
int run_record_begin(const struct fence_plan *plan, struct run_record *ret_run, struct error *err);

/* Waits until the record is on disk. Nothing may run before: after a power cut, the sweep depends
 * on it. Returns 0, or -1 with err set. */
int run_record_sync(const struct run_record *run, struct error *err);

/* Sweeps the writable places, removes the record and releases `run`. Adds a notice for each place
 * that was moved. Returns 0, or -1 with err set if an entry could not be moved. */
int run_record_end(struct run_record *run, const struct fence_plan *plan, struct fence_found *found,
		   struct list *notices, struct error *err);

/* Sweeps and removes every run whose ringfence and init are gone, and adds the entries found to
 * plan->recovered. Returns 0, or -1 with err set. */
int run_record_recover(struct fence_plan *plan, struct error *err);

/* Returns a lock that keeps all records in place until it is closed, or -1 if there is no state
 * folder to keep one in. */
int run_record_hold(const char *state);

/* Drops every known entry and symlink that another run may have made, by the records in place.
 * Returns 0, or -1 with err set if a record cannot be understood. */
int run_record_inherit(struct fence_plan *plan, struct error *err);

#endif
