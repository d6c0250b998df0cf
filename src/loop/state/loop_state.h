/* The state of a loop: the sum of its events. See loop_event.h. */
#ifndef LOOP_STATE_LOOP_STATE_H
#define LOOP_STATE_LOOP_STATE_H

#include "agent/agent.h"
#include "alert/alert.h"
#include "decision/all.h"
#include "journal/journal.h"
#include "loop/state/loop_event.h"
#include "loop/state/loop_part.h"
#include "loop/state/loop_phase.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	LOOP_EARLIER = 8,
	LOOP_PAST = 100,
	LOOP_SESSION_BYTES = 200,
	LOOP_PERIOD_RUNS = 8 /* bits of a period: reviewers in an attempt at an iteration */
};

/* How much of the past a prompt tells. */
struct loop_prompt_limits {
	uint32_t history;      /* iterations with a line of their own */
	uint32_t messages;     /* iterations whose final message is quoted */
	int64_t message_bytes; /* of such a message */
	int64_t output_bytes;  /* of a failed check's output */
};

#define LOOP_PROMPT_LIMITS_DEFAULT                           \
	((struct loop_prompt_limits){ .history = 10,         \
				      .messages = 3,         \
				      .message_bytes = 1500, \
				      .output_bytes = EXCERPT_MAX })

/* The configuration of a loop. The texts belong to the JSON they were read from. */
struct loop_options {
	const char *project;   /* where the loop works */
	const char *origin;    /* the user's project if the loop has its own work tree; else NULL */
	const char *work_tree; /* the root of that work tree; else NULL */
	const char *draft;     /* the folder of the draft it works on (draft/draft.h); else NULL */
	const char *from;      /* the loop whose result it began with, or NULL */
	const char *from_commit;      /* the last commit of that result, or NULL */
	const char *with;             /* the loop whose changes were merged into that, or NULL */
	const json_t *conflicts;      /* of this merge, a sentence each; or NULL */
	const json_t *conflict_paths; /* and the path of each */
	const char *name;             /* by which the user calls it, or NULL (util/id.h) */
	const char *batch, *task; /* the work list, and its task, that the loop runs for; or NULL */
	const char *objective;
	const char *promise; /* or NULL */
	const char *tasks;   /* a file with boxes, or NULL */
	/* The agents in the order of preference, stronger ones to climb to, those of phases. */
	struct loop_part agents[DECISION_AGENTS_MAX];
	uint32_t agent_count, rung_count, part_count; /* the last one: of all */
	struct loop_phase phases[LOOP_PHASES_MAX];
	uint32_t phase_count;      /* 0: there are no phases */
	uint32_t climb_after;      /* iterations without progress; 0: never */
	int64_t patience_ms;       /* a provider's limit that lasts longer hands over; 0: never */
	struct loop_part reviewer; /* gives a second opinion, if there is one */
	/* Folder for the sessions of all loops; NULL: sessions are not kept. */
	const char *sessions;
	const char *prices;          /* the user's own, or NULL */
	const char *record, *replay; /* tapes of model exchanges, or NULL */
	struct list checks;
	bool check_found;  /* the only check, found in the project and not chosen by the user */
	bool check_view;   /* they run in a throw-away view */
	bool prove_check;  /* each must fail when the code is broken */
	uint32_t mutants;  /* changes to the agent's lines that are tried before its work is done */
	bool keep_session; /* each iteration continues the previous session */
	bool git;          /* private in the fence; else read-only */
	bool checkpoints_off;
	bool checkpoint_ignored; /* also save ignored files */
	int64_t timeout_ms;      /* per iteration */
	int64_t check_timeout_ms;
	int64_t idle_ms;
	int64_t budget_nusd;    /* per iteration; 0: unlimited */
	int64_t review_nusd;    /* the same, for a review */
	uint32_t review_rounds; /* with blocking findings, then a person decides; 0: unlimited */
	uint32_t final_tries;   /* pause after so many failures of final checks; 0: never */
	int64_t daily_nusd;     /* for all runs of the user in a day; 0: unlimited */
	struct decision_limits limits;
	struct loop_prompt_limits prompt;
	int64_t checkpoint_ms; /* interval within an iteration; 0: off */
	int64_t checkpoint_bytes,
		checkpoint_age_ms;  /* limits of the stored checkpoints; 0: unlimited */
	int64_t git_bytes;          /* limit per import */
	int64_t loop_disk_bytes;    /* limit of disk usage; 0: unlimited */
	int64_t min_free_bytes;     /* required free space on its disks; 0: off */
	const json_t *fence;        /* see spec_json.h */
	const json_t *findings;     /* actions on findings; NULL: nothing is examined */
	const json_t *final_checks; /* commands that the agent never sees */
	const char *hold_out;       /* a folder for these alone, or NULL */
	const json_t *check_cache;  /* folders in the project that only the checks see */
	const json_t *pin, *unpin;  /* patterns of pinned files (project/pins.h) */
	struct alert_settings alerts;
};

struct loop_state_check {
	bool ran;
	bool passed; /* exited 0 */
	bool vacuous;
	bool counted;
	bool summary; /* its test runner reached its end */
	int code;
	int64_t tests_passed, tests_failed;
	int64_t total;  /* tests that ran, or -1 */
	char *unproven; /* why it is vacuous although tests seem to have run, or NULL */
	int64_t duration_ms;
	uint64_t signature;
	char *excerpt;               /* quoted, for the next prompt */
	uint32_t iteration, attempt; /* in which it ran */
	bool own;      /* it also ran with the agent's version of pinned files, and ... */
	bool own_held; /* ... passed there */

	/* The result before the first iteration, to tell old failures from new ones. */
	bool again; /* it has run since */
	bool held_before;
	bool summary_before;
	int64_t total_before;
	uint64_t signature_before;
};

/* An earlier iteration, as later prompts tell it. */
struct loop_state_past {
	uint32_t iteration;
	bool progressed;
	enum failure failure;
	uint32_t files_changed, boxes_ticked, checks_passing;
	int64_t tests_passing;
	char *message; /* the agent's final one, quoted; or NULL */
	char *told;    /* the user's messages in its prompt, shortened; or NULL */
};

/* A message of the user to the agent. */
struct loop_state_told {
	char *text; /* cleaned */
	bool given; /* in the prompt of the last agent that has begun */
};

/* Iterations before those, summed up. */
struct loop_state_sum {
	uint32_t count;
	uint32_t first, last; /* their numbers */
	uint32_t progressed, failed;
	uint32_t boxes_ticked, checks_passing; /* at most */
	int64_t tests_passing;
};

/* The second opinion on the work. */
struct loop_state_review {
	uint32_t runs;         /* reviewers started in this attempt */
	uint32_t unanswered;   /* and ended without an opinion */
	bool given;            /* the last one had an opinion on the present work */
	json_t *findings;      /* of the last opinion, or NULL */
	uint32_t rounds;       /* opinions with blocking findings since a person resumed the loop */
	uint32_t changed;      /* files that the agent had changed when the review began */
	enum failure failure;  /* of the last run */
	int64_t reset_at;      /* when the limit of its provider is over, or 0 */
	char *unreached, *why; /* why it had no opinion, or NULL */
	int64_t spent_nusd;    /* by all reviewers; a part of the loop's cost */
};

/* The phase under way, if the loop has phases. */
struct loop_state_phase {
	uint32_t at;           /* its index */
	uint32_t used;         /* iterations since it began, or a person resumed the loop */
	int64_t spent_nusd;    /* likewise */
	size_t checks_done;    /* commands that end it, in this iteration */
	bool check_failed;     /* one of them failed */
	char *failed, *output; /* that one, and a part of its output; or NULL */
	struct {
		uint32_t iterations;
		int64_t spent_nusd;
	} sums[LOOP_PHASES_MAX]; /* of each phase, in all */
};

/* Changes to the agent's lines, tried on its present work. */
struct loop_state_mutants {
	bool tried;                          /* all of them, or as many as possible */
	uint32_t done;                       /* this many in this step */
	uint32_t noticed, survived, invalid; /* by a check; by none; not valid code */
	json_t *untested;                    /* findings: the lines whose changes none noticed */
	char *why;                           /* why not all could be tried, or NULL */
};

enum loop_wish { LOOP_WISH_NONE, LOOP_WISH_PAUSE, LOOP_WISH_ABORT };

struct loop_state {
	enum loop_step step;
	int64_t last_seq;
	int64_t created_ms;
	int64_t step_ms;   /* start of this step */
	int64_t rested_ms; /* total time in pauses */
	json_t *config;    /* owns the texts of the options */
	struct loop_options options;

	uint32_t iteration; /* the current or last one, from 1 */
	uint32_t attempt;   /* at this iteration, from 1 */
	uint64_t settled,
		settled_before;          /* loop_state_period() of the last two agents that ended */
	struct loop_state_check *checks; /* the latest results, one for each check in the options */
	size_t checks_done;              /* in this step */
	struct failure_facts facts;      /* of the agent in this iteration */
	char *final;                     /* the agent's final message */
	char *policy_why;                /* a refused request that the agent did without, or NULL */
	char *unreached;                 /* why the last model request got no response, or NULL */
	int64_t wait_until_ms;
	enum loop_wish wish;
	char *wish_why;   /* why an alert wishes it; NULL: the user does */
	bool wish_asks;   /* the alert asks whether to go on */
	uint32_t alerted; /* rules that were reported, as a set of bits; see loop_state_alert.c */
	char *alert_texts[ALERT_COUNT]; /* of these */
	char *blocked; /* what a person must do, by the agent; of a loop paused by that; or NULL */
	/* The messages that no iteration with them in its prompt has ended with; oldest first. */
	struct loop_state_told told[TOLD_MOST];
	size_t told_count;
	char *status;      /* of a finished loop: completed, limit, failed, aborted */
	bool fence_failed; /* finished because the fence failed */
	bool refused;      /* finished because a program to run was missing */
	pid_t supervisor;
	char mechanism[16]; /* of the last run in the fence; empty before the first */
	uint32_t weaker, weaker_limits;
	char *reason;
	int64_t checkpoint;      /* number of the latest one, or -1 */
	int64_t start;           /* number of the one that the agent's changes are compared with */
	char *checkpoint_error;  /* why the last one failed, or NULL */
	char *edited;            /* what the user changed beside the draft, as told last; or NULL */
	int64_t restored_to;     /* the checkpoint that the user restored; see `restored` */
	json_t *findings;        /* of the last examination, or NULL */
	json_t *pinned;          /* pinned files that the agent has changed, by the same; or NULL */
	json_t *accepted;        /* findings that the user accepted, or NULL */
	size_t finals_done;      /* final checks that have run in this iteration */
	uint32_t final_failures; /* iterations whose agent was told that one of them failed */
	bool final_failed;       /* one of them failed */
	bool restored;           /* by the user, since the last agent began */
	bool findings_told;      /* the agent was told about one that stops the loop */
	bool pins_told;     /* the agent was told that its version of pinned files is not used */
	bool only_findings; /* a person only has to accept them */
	bool recheck;       /* the agent has done its part: the next iteration needs none */
	uint32_t agent;     /* that works in this iteration, or worked in the last one */
	int64_t limited_ms[DECISION_AGENTS_MAX]; /* until when each one's provider refuses, or 0 */
	uint32_t level, stalled;                 /* see struct decision_agents */
	struct loop_state_review review;
	struct loop_state_phase phase;
	struct loop_state_mutants mutants;
	uint32_t proofs_done; /* checks, and then final ones, that were tried with broken code */
	uint32_t cannot_fail; /* how many of them still passed */
	int64_t quarantined;  /* files that sweeps have removed from the project so far */

	char *git_mode,
		*git_why; /* git in the fence: private, read-only, none; NULL: not decided yet */
	char *git_ref, *git_commit; /* the agent's imported commits, or NULL */
	char *git_error;            /* why the last import failed, or NULL */
	struct list git_trouble;    /* commits that were not imported, or not made */
	json_t *closing;    /* data of the final event while the loop is being closed; else NULL */
	char *uncommitted;  /* why leftovers were not committed, or NULL */
	char *not_recorded; /* why the tape has a gap, or NULL */

	uint32_t used; /* iterations that count */
	uint32_t waits;
	bool warned;
	int64_t spent_nusd; /* total cost reported by all agents, including interrupted attempts */
	int64_t estimated_nusd;          /* its estimated part */
	char *session;                   /* of the last agent, or NULL */
	struct agent_totals session_use; /* of that session since it began */
	struct breaker breakers[BREAKER_COUNT];
	struct progress_snapshot earlier[LOOP_EARLIER]; /* latest first */
	size_t earlier_count;
	uint32_t completion, confidence;        /* per mille */
	struct loop_state_past past[LOOP_PAST]; /* latest first */
	size_t past_count;
	struct loop_state_sum older; /* the iterations before them */
};

/*
 * Reads the configuration in the first event into a new state. Returns 0, or -1 with err set if a
 * required value is missing.
 */
int loop_options_read(json_t *config, struct loop_state *state, struct error *err);

/* Returns how many checks there are, with the final ones, and the command of one: the final checks
 * come after the others. */
size_t loop_options_check_count(const struct loop_options *options);
const char *loop_options_check(const struct loop_options *options, size_t index);

/* Changes limits and similar options from an event with the same keys. */
void loop_options_change(const json_t *config, struct loop_state *state);

void loop_state_init(struct loop_state *state);
void loop_state_release(struct loop_state *state);

/*
 * Adds one event to the state. Returns 0, or -1 with err set if the event is malformed or not legal
 * in this step.
 */
int loop_state_fold(struct loop_state *state, const struct journal_event *event, struct error *err);

/*
 * Lists the agent's trouble with git in the data of an `imported` event: commits that were not
 * imported, and work that is not committed. The caller releases the list.
 */
void loop_state_git_trouble(const json_t *data, struct list *ret_trouble);

/*
 * May the user tell the agent something now? Returns 0, or -1 with err set: the loop is completed,
 * or has as many messages as it can hold.
 */
int loop_state_permits_tell(const struct loop_state *state, struct error *err);

/* Returns how many messages of the user no prompt has had yet. */
uint32_t loop_state_unread(const struct loop_state *state);

/* Returns how a part ended, by the data of the event that ended it. */
struct failure_facts loop_state_facts(const json_t *data);

/* Reports whether .git must be made read-only in the loop's draft. Elsewhere the fence protects
 * every git directory. */
bool loop_state_protects_git(const struct loop_state *state);

/* Returns the failure of a part, by the data of the event that ended it. */
enum failure loop_state_failure(const json_t *data);

/* Reads a whole journal. Returns 0, or -1 with err set. */
int loop_state_read(struct journal *store, struct loop_state *ret_state, struct error *err);

/* Returns the part that runs in this step, or ran last. */
const struct loop_part *loop_state_part(const struct loop_state *state);

/* Returns the phase under way, or NULL if the loop has no phases. */
const struct loop_phase *loop_state_phase(const struct loop_state *state);

/* Reports whether all agents are commands of the user's, and no money was spent: the loop may never
 * use a model. */
bool loop_state_is_scripted(const struct loop_state *state);

/* Describes the agents of the phase, or of the loop, for a decision. */
struct decision_agents loop_state_agents(const struct loop_state *state);

/* Returns the index among all agents of one of these. */
uint32_t loop_state_agent_at(const struct loop_state *state, uint32_t index);

/* Returns how much that part may cost; 0: unlimited. In a phase with a limit, no more than is
 * left. */
int64_t loop_state_budget_nusd(const struct loop_state *state);

/* Is that what is left of the phase's limit? */
bool loop_state_budget_is_phase(const struct loop_state *state);

/* For messages: the budget's name. */
struct loop_budget_name {
	const char *of;     /* "this iteration" */
	const char *option; /* that changes it: "--budget", or "max-cost of the phase" */
	int64_t whole_nusd; /* the limit, of which the budget may be a rest */
};
struct loop_budget_name loop_state_budget_name(const struct loop_state *state);

/* Returns a number for the current run of a part; later runs have larger numbers. */
uint64_t loop_state_period(const struct loop_state *state);

/*
 * Adds the events after the mark to a state that has all before it. Returns 0, or -1 with err set.
 */
int loop_state_follow(struct journal *store, struct journal_mark *mark, struct loop_state *state,
		      struct error *err);

/* The words for how a loop is doing. Only client_status() knows `restarting`. */
#define LOOP_STATUSES(X) \
	X(starting)      \
	X(running)       \
	X(waiting)       \
	X(restarting)    \
	X(paused)        \
	X(interrupted)   \
	X(completed)     \
	X(limit)         \
	X(failed)        \
	X(aborted)

/* Returns one of these words. A loop that should be running but has no supervisor is
 * interrupted. */
const char *loop_state_status(const struct loop_state *state, bool alive);

/* Returns why the loop pauses or is aborted between iterations: an alert, or the user. */
const char *loop_state_wish_reason(const struct loop_state *state);

/* Forgets these alerts. */
void loop_state_drop_alerts(struct loop_state *state, uint32_t rules);

/* Records an alert, and what it wishes. */
void loop_state_fold_alerted(struct loop_state *state, const json_t *data);

/* After each event: forgets the alerts that no longer hold, so that they are reported again. */
void loop_state_forget_alerts(struct loop_state *state, enum loop_event event);

/* Reads the values that every decision carries. */
void loop_state_read_verdict(struct loop_state *state, const json_t *data);

/* Begins the next phase, if there is one. */
void loop_state_next_phase(struct loop_state *state);

/* Reads a snapshot, which is the latest from then on. One without a tree is ignored. */
void loop_state_read_snapshot(struct loop_state *state, const json_t *data);

/* Adds an iteration to a sum. */
void loop_state_sum_add(struct loop_state_sum *sum, const struct loop_state_past *past);

/* Breakers and snapshots as JSON, for events. */
json_t *loop_state_breakers_json(const struct breaker *breakers);
json_t *loop_state_snapshot_json(const struct progress_snapshot *snapshot);

#endif
