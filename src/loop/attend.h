/*
 * What a supervisor holds, and how it waits: at one place, for everything at once. While an agent works or
 * a limit is waited out, clients are answered, a killed keeper is replaced, and the heart beats.
 */
#ifndef LOOP_ATTEND_H
#define LOOP_ATTEND_H

#include "agent/agent.h"
#include "fence/fence.h"
#include "loop/loop_state.h"
#include "loop/runner.h"
#include "loop/sink.h"
#include "loop/survey.h"
#include "price/price.h"
#include "snapshot/snapshot.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { ATTEND_HEARTBEAT_MS = 30000, ATTEND_CLIENTS = 16 };

/* Why a run is to end before it does by itself. An abort outweighs the others. */
enum cut { CUT_NOT, CUT_IDLE, CUT_BUDGET, CUT_DISK, CUT_ABORT };

struct supervisor {
	const char *folder;
	struct journal *store;
	struct loop_state state;
	struct fence_spec fence;
	struct survey_memory *memory;
	struct survey before;
	bool surveyed; /* `before` is of this moment */
	int lock, control, signals, farewell;
	int clients[ATTEND_CLIENTS];
	struct runner runner;
	struct sink output, complaints;
	struct agent_summary heard; /* what the agent said, as facts */
	struct price_table prices;
	int64_t heartbeat_ms; /* by the steady clock */
	int64_t apart_ms;     /* the clock, from the steady one; 0: not looked at yet */
	bool stale;           /* state.json is older than the state */
	int64_t said_ms;      /* when the agent last said something */
	bool working;         /* a runner is at work */
	enum cut cut;
	struct snapshot_job snapshot; /* a checkpoint under way (loop_checkpoint.h) */
	char snapshot_kind[16];
	uint32_t snapshot_iteration;
	int64_t snapshot_ms;   /* when the last one within an iteration was begun */
	bool snapshot_awaited; /* nothing goes on before it is there */
	bool snapshot_ended;
	int64_t disk_ms;       /* when the disk was looked at; by the steady clock */
	int64_t disk_count_ms; /* when it may be counted again */
	struct fence_covers
		covers; /* the private git directory, as it is shown inside; none: there is none */
	char *git_refused; /* of what the agent committed, the last time; NULL: nothing */
	bool git_open;     /* that is known */
	bool kept;         /* the latest checkpoint is of this moment */
	int lost;          /* runners that were killed in the baseline */
	char used_up
		[LEDGER_WHY]; /* a limit of money that another iteration would not help; empty: none */
	bool used_up_today; /* tomorrow would */
	char strayed[1000]; /* where a replay has left its tape; empty: it has not */
	bool leaving;       /* TERM: the machine goes down, or somebody wants this process to */
};

/* For silence: a clock that is set does not end an agent. */
int64_t attend_steady_ms(void);

/* A beat: whoever looks at the file knows that somebody is there. */
void attend_beat(struct supervisor *sup);

/* Writes an event, then acts as if it had been read. Takes the data over. Returns 0, or -1 with err set. */
int attend_append(struct supervisor *sup, enum loop_event kind, json_t *data, struct error *err);

/* How far the clock was set, or the machine slept, between two looks at how far it is from the steady one. A
 * few seconds are nothing. */
int64_t attend_jump_ms(int64_t apart_before_ms, int64_t apart_ms);

/* Such a jump is no time of the loop: it is written down. Returns 0, or -1 with err set. */
int attend_clock(struct supervisor *sup, struct error *err);

/* One round: waits for something to happen, at most until the given time. True when the runner has
 * ended. */
bool attend(struct supervisor *sup, int64_t at_most_ms);

#endif
