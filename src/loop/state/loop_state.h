/*
 * The state of a loop: the sum of its events. See loop_event.h.
 */
#ifndef LOOP_STATE_LOOP_STATE_H
#define LOOP_STATE_LOOP_STATE_H

#include "agent/agent.h"
#include "decision/all.h"
#include "journal/journal.h"
#include "loop/state/loop_event.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LOOP_EARLIER = 8, LOOP_REFLECTIONS = 3, LOOP_SESSION_BYTES = 200 };

/* What a loop was asked to do. Texts belong to the JSON that they were read from. */
struct loop_options {
	const char *project; /* where it works */
	const char *origin;  /* of one with a work tree of its own: the user's project; else NULL */
	const char *work_tree; /* the root of that; else NULL */
	const char *objective;
	const char *promise; /* NULL: none is asked for */
	const char *tasks;   /* a file with boxes; NULL: none */
	const char *agent;   /* its name: "command" */
	const char *agent_command;
	const struct agent_format *agent_format;
	const char *model;           /* NULL: the agent's own choice */
	const char *sessions;        /* the folder of all loops for them; NULL: none are kept */
	const char *prices;          /* of the user's own; NULL: none */
	const char *record, *replay; /* tapes of exchanges with models; NULL: none */
	const char *login; /* a credential file that the agent gets a copy of; NULL: none */
	bool keep_session; /* an iteration goes on with the session of the one before */
	struct list checks;
	bool check_found;   /* in the project: nobody chose it, and it is the only one */
	int64_t timeout_ms; /* of an iteration */
	int64_t check_timeout_ms;
	int64_t idle_ms;
	int64_t budget_nusd; /* of an iteration; 0: none */
	int64_t daily_nusd;  /* of all runs of the user in a day; 0: none */
	struct decision_limits limits;
	bool checkpoints_off;
	bool checkpoint_ignored; /* ignored files are kept, too */
	int64_t checkpoint_ms;   /* within an iteration; 0: none */
	int64_t checkpoint_bytes,
		checkpoint_age_ms; /* what is kept of them at most; 0: everything */
	bool git;                  /* inside it is private; else read-only */
	int64_t git_bytes;         /* that may come in at a time */
	int64_t loop_disk_bytes;   /* that it may take; 0: any */
	int64_t min_free_bytes;    /* that must be left on its disks; 0: none */
	const json_t *fence;       /* see spec_json.h */
};

struct loop_state_check {
	bool ran;
	bool passed; /* ended with 0 */
	bool vacuous;
	bool counted;
	int code;
	int64_t tests_passed, tests_failed;
	uint64_t signature;
	char *excerpt; /* quoted, for the next prompt */

	/* How it was before the first iteration, to tell old failures from new ones. */
	bool again; /* it has been run since */
	bool held_before;
	uint64_t signature_before;
};

enum loop_wish { LOOP_WISH_NONE, LOOP_WISH_PAUSE, LOOP_WISH_ABORT };

struct loop_state {
	enum loop_phase phase;
	int64_t last_seq;
	int64_t created_ms;
	int64_t phase_ms;  /* since when it is in this phase */
	int64_t rested_ms; /* how long it was paused, in all */
	json_t *config;    /* owns the texts of the options */
	struct loop_options options;

	uint32_t iteration; /* the present or the last one, from 1 */
	uint32_t attempt;   /* of it, from 1 */
	uint64_t settled,
		settled_before; /* loop_state_period() of the last agent that has ended, and the one before */
	struct loop_state_check *checks; /* as they were run last, one for each of the options */
	size_t checks_done;              /* in this phase */
	struct failure_facts facts;      /* of the agent's part of this iteration */
	char *final;                     /* its final message */
	char *unreached; /* why there was no way to its model at last; NULL: there was */
	int64_t wait_until_ms;
	enum loop_wish wish;
	char *status;      /* of a loop that has finished: completed, limit, failed, aborted */
	bool fence_failed; /* it has finished because the fence did */
	bool refused;      /* it has finished because what it was to run was not there */
	pid_t supervisor;
	char mechanism[16]; /* of the last run in the fence; empty: there was none yet */
	uint32_t weaker, weaker_limits;
	char *reason;
	int64_t checkpoint;     /* the number of the latest one; -1: there is none */
	char *checkpoint_error; /* why the last one could not be taken; NULL: it could */

	char *git_mode,
		*git_why; /* what git is inside: private, read-only, none; NULL: not known yet */
	char *git_ref, *git_commit; /* where the agent's commits are; NULL: it made none */
	char *git_error;            /* why the last ones did not come in; NULL: they did */
	json_t *closing;   /* of a loop that is being closed: the data of its end; else NULL */
	char *uncommitted; /* at its end: why what the agent left was not committed; NULL: it was */
	char *not_recorded; /* why the tape has a gap; NULL: it has none */

	uint32_t used; /* iterations that count */
	uint32_t waits;
	bool warned;
	int64_t spent_nusd; /* what the agents said that they cost, those of interrupted tries, too */
	char *session;      /* of the last agent, as it said; NULL: none */
	struct agent_totals session_use; /* of that session, since it began */
	struct breaker breakers[BREAKER_COUNT];
	struct progress_snapshot earlier[LOOP_EARLIER]; /* the latest first */
	size_t earlier_count;
	uint32_t completion, confidence;     /* per mille */
	char *reflections[LOOP_REFLECTIONS]; /* the latest first */
};

/* Takes what the first event says into a new state. Returns 0, or -1 with err set: it does not say all. */
int loop_options_read(json_t *config, struct loop_state *state, struct error *err);

/* Limits and the like may be changed later, by an event with the same names. */
void loop_options_change(const json_t *config, struct loop_state *state);

void loop_state_init(struct loop_state *state);
void loop_state_release(struct loop_state *state);

/* Adds one event. Returns 0, or -1 with err set: it cannot happen here, or is malformed. */
int loop_state_take(struct loop_state *state, const struct journal_event *event, struct error *err);

/* Reads a whole journal. */
int loop_state_read(struct journal *store, struct loop_state *ret_state, struct error *err);

/* A number for each try of each iteration; later ones are larger. */
uint64_t loop_state_period(const struct loop_state *state);

/* starting, running, waiting, paused, completed, limit, failed, aborted; without a supervisor one that
 * should go on is interrupted. */
const char *loop_state_status(const struct loop_state *state, bool alive);

/* For events: breakers and snapshots as JSON. */
json_t *loop_state_breakers_json(const struct breaker *breakers);
json_t *loop_state_snapshot_json(const struct progress_snapshot *snapshot);

#endif
