/*
 * The data of a loop's supervisor, part by part, and how it writes an event.
 *
 * drive.h takes a loop from step to step. The modules that do the work of a step get the whole
 * struct; each writes only its own part, and everything that others may read is here.
 */
#ifndef LOOP_SUPERVISE_SUPERVISOR_H
#define LOOP_SUPERVISE_SUPERVISOR_H

#include "agent/agent.h"
#include "fence/fence_index.h"
#include "fence/fence_spec.h"
#include "loop/run/runner.h"
#include "loop/run/sink.h"
#include "loop/run/survey.h"
#include "loop/state/loop_state.h"
#include "loop/supervise/wait_set.h"
#include "price/price.h"
#include "snapshot/snapshot.h"
#include "util/file/dirwalk.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { SUPERVISOR_HEARTBEAT_MS = 30000 };

/* Why a run is stopped early. An abort overrides the others. */
enum supervisor_cut {
	SUPERVISOR_CUT_NOT,
	SUPERVISOR_CUT_IDLE,
	SUPERVISOR_CUT_BUDGET,
	SUPERVISOR_CUT_DISK,
	SUPERVISOR_CUT_TOLD,  /* the user has a message that the agent must read now */
	SUPERVISOR_CUT_LIMIT, /* the loop may cost less than its gateway knows */
	SUPERVISOR_CUT_ALERT, /* an alert pauses the loop */
	SUPERVISOR_CUT_ABORT
};

/* state.json and the clock. */
struct supervisor_heart {
	int64_t beat_ms;  /* by the steady clock */
	int64_t apart_ms; /* offset of the wall clock from the steady clock; 0: not measured yet */
	bool stale;       /* state.json is older than the state */
};

/* The run in the fence: work.h. */
struct supervisor_run {
	struct runner runner;
	struct sink output, complaints;
	struct agent_summary heard; /* summary of the agent's output */
	int64_t said_ms;            /* time of the agent's last output */
	bool working;               /* a runner is active */
	bool ended;                 /* the result has arrived */
	enum supervisor_cut cut;
	int lost; /* runners killed in the baseline */
};

/* The last survey of the project: loop_survey.h. */
struct supervisor_survey {
	struct survey_memory *memory;
	struct survey before;
	int64_t checkpoint; /* the checkpoint that equals `before`, or -1 */
	bool current;       /* `before` is up to date */
};

/* The checkpoint or other work of ringfence-snapshot in progress: loop_checkpoint.h. */
struct supervisor_checkpoint {
	struct snapshot_job job;
	char kind[16];
	uint32_t iteration;
	int64_t begun_ms; /* start of the last one within an iteration */
	bool awaited;     /* the loop waits for it */
	bool ended;
	bool current;        /* the latest checkpoint is up to date */
	struct survey tally; /* the project facts that came with it */
	bool tallied;        /* tally is set */
};

/* The last checks of the disk, by the steady clock, and the parts that only grow: disk.h. */
struct supervisor_disk {
	int64_t looked_ms;
	int64_t count_ms;            /* when usage may be measured again */
	bool counted;                /* everything was, once */
	uint32_t iteration, attempt; /* under way at the last count */
	uint64_t ended;              /* bytes of the attempts before it */
	uint64_t refs;               /* bytes of the names of checkpoints */
	int64_t checkpoint;          /* the last one among them */
};

/* The private git directory: loop_git.h. */
struct supervisor_git {
	struct fence_covers covers; /* its mounts in the fence; empty: there is none */
	char began[65];             /* the commit, or tree, that it began with; may be empty */
	bool open;                  /* the covers are set */
};

/* The folders of the current round of checks: verification.h. */
struct supervisor_verification {
	char *pins;
	char *pinned; /* NULL: the checks run where the agent works */
	char *own;    /* NULL: the agent has changed no pinned file */
	bool layered; /* the folder of pins has files */
	char *why;    /* why there is no view although one is wanted, or NULL */
	char *layer;  /* files that are broken in a trial; NULL: there is none */
	char *trial;
};

/* The watch over the project: project_watch.h. */
struct supervisor_watch {
	struct fence_index index;
	struct dirwalk_folder root; /* the project that is watched */
	int file;                   /* in which a runner returns the index that it made, or -1 */
	bool off;                   /* the project has too many folders */
	bool looking;               /* the index was current when the look for edits began */
	bool looked; /* the project is as that look found it, unless there are events */
};

/* Findings of the ledger: loop_cost.h. */
struct supervisor_money {
	char used_up[LEDGER_WHY]; /* a limit that rules out another iteration; or empty */
	bool used_up_today;       /* only for today */
	char strayed[1000];       /* where a replay departed from its tape; or empty */
};

/* The iteration that the alerts watch, by the steady clock: loop_alert.h. */
struct supervisor_alert {
	uint32_t iteration, attempt;
	int64_t begun_ms, looked_ms; /* when it began, and the last look at the disk */
};

struct supervisor {
	const char *folder;
	struct journal *store;
	struct loop_state state;
	struct fence_spec fence;
	struct price_table prices;
	int lock;
	bool leaving; /* got SIGTERM: the machine or this process shuts down */
	struct wait_set waits;
	struct supervisor_heart heart;
	struct supervisor_run run;
	struct supervisor_survey survey;
	struct supervisor_checkpoint checkpoint;
	struct supervisor_disk disk;
	struct supervisor_git git;
	struct supervisor_verification verification;
	struct supervisor_watch watch;
	struct supervisor_money money;
	struct supervisor_alert alert;
};

/* Initializes the supervisor of the loop in this folder, with nothing open yet. */
void supervisor_init(struct supervisor *sup, const char *folder);
void supervisor_release(struct supervisor *sup);

/* Locks the folder, and reads the journal and the stored spec. Returns 0, or -1 with err set. */
int supervisor_open(struct supervisor *sup, struct error *err);

/* Creates the folder of the current attempt at an iteration, or of the baseline. The caller frees
 * the path; NULL with err set. */
char *supervisor_iteration(const struct supervisor *sup, struct error *err);

/* Writes a heartbeat to state.json. */
void supervisor_beat(struct supervisor *sup);

/* Writes an event and updates the state. Consumes the data. Returns 0, or -1 with err set. */
int supervisor_append(struct supervisor *sup, enum loop_event kind, json_t *data,
		      struct error *err);

/*
 * Returns by how much the wall clock jumped, or the machine slept, between two measurements of its
 * offset from the steady clock. A few seconds count as 0.
 */
int64_t supervisor_jump_ms(int64_t apart_before_ms, int64_t apart_ms);

/* Records such a jump, which does not count as time of the loop. Returns 0, or -1 with err set. */
int supervisor_clock(struct supervisor *sup, struct error *err);

/* Waits for one round (wait_set.h), at most until the given time in ms since the epoch. */
void supervisor_wait(struct supervisor *sup, int64_t at_most_ms);

#endif
