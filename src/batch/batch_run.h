/* A batch that runs: all that its supervisor has, and how it records an event. */
#ifndef BATCH_BATCH_RUN_H
#define BATCH_BATCH_RUN_H

#include "batch/batch_loop.h"
#include "batch/batch_state.h"
#include "batch/batch_watch.h"
#include "journal/journal.h"
#include "loop/supervise/wait_set.h"
#include "util/error.h"

struct batch_run {
	const char *folder;
	char *home;                    /* Ringfence's state folder */
	struct batch_loop_place place; /* for its loops */
	struct journal *store;
	struct batch_state state;
	struct batch_watch watch;
	bool *deciding; /* for batch_schedule() */
	int lock, signals, farewell, control;
	int64_t looked_ms;
	bool leaving; /* got SIGTERM */
	bool stale;   /* state.json is older than the state */
	struct wait_set waits;
};

/* Writes an event and updates the state. Consumes the data. Returns 0, or -1 with err set. */
int batch_run_append(struct batch_run *run, enum batch_event kind, json_t *data, struct error *err);

/* The same for an event about a task, with a reason or NULL. */
int batch_run_append_task(struct batch_run *run, enum batch_event kind, size_t task,
			  const char *reason, struct error *err);

#endif
