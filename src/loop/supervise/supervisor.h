/*
 * What the supervisor of a loop holds, part by part, and how it writes an event.
 *
 * drive.h takes a loop from phase to phase. The modules that do the work of a phase are given the whole
 * struct; each writes its own part, and what others may know of it is here.
 */
#ifndef LOOP_SUPERVISE_SUPERVISOR_H
#define LOOP_SUPERVISE_SUPERVISOR_H

#include "agent/agent.h"
#include "fence/fence_spec.h"
#include "loop/run/runner.h"
#include "loop/run/sink.h"
#include "loop/run/survey.h"
#include "loop/state/loop_state.h"
#include "loop/supervise/wait_set.h"
#include "price/price.h"
#include "snapshot/snapshot.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { SUPERVISOR_HEARTBEAT_MS = 30000 };

/* Why a run is to end before it does by itself. An abort outweighs the others. */
enum supervisor_cut {
	SUPERVISOR_CUT_NOT,
	SUPERVISOR_CUT_IDLE,
	SUPERVISOR_CUT_BUDGET,
	SUPERVISOR_CUT_DISK,
	SUPERVISOR_CUT_ABORT
};

/* state.json, and the clock. */
struct supervisor_heart {
	int64_t beat_ms;  /* by the steady clock */
	int64_t apart_ms; /* the clock, from the steady one; 0: not looked at yet */
	bool stale;       /* state.json is older than the state */
};

/* The run in the fence: work.h. */
struct supervisor_run {
	struct runner runner;
	struct sink output, complaints;
	struct agent_summary heard; /* what the agent said, as facts */
	int64_t said_ms;            /* when the agent last said something */
	bool working;               /* a runner is at work */
	bool ended;                 /* its result is there */
	enum supervisor_cut cut;
	int lost; /* runners that were killed in the baseline */
};

/* The project as it was seen last: phase.h. */
struct supervisor_survey {
	struct survey_memory *memory;
	struct survey before;
	int64_t checkpoint; /* that shows what `before` does; -1: none */
	bool current;       /* `before` is of this moment */
};

/* The checkpoint under way, or other work of ringfence-snapshot: loop_checkpoint.h. */
struct supervisor_checkpoint {
	struct snapshot_job job;
	char kind[16];
	uint32_t iteration;
	int64_t begun_ms; /* when the last one within an iteration was begun */
	bool awaited;     /* nothing goes on before it is there */
	bool ended;
	bool current;        /* the latest checkpoint is of this moment */
	struct survey tally; /* what it said about the project */
	bool tallied;        /* it did */
};

/* The latest looks at the disk, by the steady clock: disk.h. */
struct supervisor_disk {
	int64_t looked_ms;
	int64_t count_ms; /* when it may be counted again */
};

/* The private git directory: loop_git.h. */
struct supervisor_git {
	struct fence_covers covers; /* as it is shown inside; none: there is none */
	char *refused;              /* of what was committed, the last time; NULL: nothing */
	bool open;                  /* that is known */
};

/* What the books said: loop_cost.h. */
struct supervisor_money {
	char used_up[LEDGER_WHY]; /* a limit that another iteration would not help; empty: none */
	bool used_up_today;       /* tomorrow would */
	char strayed[1000];       /* where a replay has left its tape; empty: it has not */
};

struct supervisor {
	const char *folder;
	struct journal *store;
	struct loop_state state;
	struct fence_spec fence;
	struct price_table prices;
	int lock;
	bool leaving; /* TERM: the machine goes down, or somebody wants this process to */
	struct wait_set waits;
	struct supervisor_heart heart;
	struct supervisor_run run;
	struct supervisor_survey survey;
	struct supervisor_checkpoint checkpoint;
	struct supervisor_disk disk;
	struct supervisor_git git;
	struct supervisor_money money;
};

/* Of the loop in this folder, with nothing open yet. */
void supervisor_init(struct supervisor *sup, const char *folder);
void supervisor_release(struct supervisor *sup);

/* Locks the folder, reads the journal, and thaws what was frozen. Returns 0, or -1 with err set. */
int supervisor_open(struct supervisor *sup, struct error *err);

/* A beat: whoever looks at the file knows that somebody is there. */
void supervisor_beat(struct supervisor *sup);

/* Writes an event, then acts as if it had been read. Takes the data over. Returns 0, or -1 with err set. */
int supervisor_append(struct supervisor *sup, enum loop_event kind, json_t *data,
		      struct error *err);

/* How far the clock was set, or the machine slept, between two looks at how far it is from the steady one. A
 * few seconds are nothing. */
int64_t supervisor_jump_ms(int64_t apart_before_ms, int64_t apart_ms);

/* Such a jump is no time of the loop: it is written down. Returns 0, or -1 with err set. */
int supervisor_clock(struct supervisor *sup, struct error *err);

/* One round of waiting (wait_set.h), at most until the given time, in ms since the epoch. */
void supervisor_wait(struct supervisor *sup, int64_t at_most_ms);

#endif
