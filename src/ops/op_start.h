/*
 * Starts a loop, in three steps that share one request and one result:
 *
 *	op_start_prepare()  checks disk space and creates a work tree if requested
 *	op_start_plan()     decides everything about the loop, for display; starts nothing
 *	op_start()          makes a draft if requested, and starts the loop as planned
 *
 * The caller chooses the agent and the goal after op_start_prepare(), because both depend on the
 * folder that the loop works in. op_start_release() removes a draft or a work tree that no loop was
 * started in.
 */
#ifndef OPS_OP_START_H
#define OPS_OP_START_H

#include "agent/adapter.h"
#include "fence/fence_place.h"
#include "fence/fence_plan.h"
#include "fence/fence_spec.h"
#include "ops/op.h"
#include "ops/op_start_draft.h"
#include "ops/op_worktree.h"

#include <jansson.h>
#include <stdint.h>

struct op_start_agent {
	const struct adapter *adapter;
	const char *command; /* for sh -c */
	const char *format;
	const char *model; /* or NULL for the agent's default */
	const char *login; /* a credential file to copy into the fence, or NULL */
	const char *name;  /* adapter and model, as AGENT[:MODEL] */
};

enum { OP_START_AGENTS_MAX = 16, OP_START_PHASES_MAX = 16 };

/* A phase of the loop. Its agents are ranges of all; without its own, it has those of the loop. */
struct op_start_phase {
	json_t *terms; /* as in the journal, without the agents */
	bool own_agents, own_rungs;
	size_t first_agent, agent_count, first_rung, rung_count;
};

struct op_start_goal {
	json_t *checks;       /* command lines */
	bool found;           /* the check was found in the project, not configured */
	json_t *findings;     /* actions on findings: KIND=ACTION */
	json_t *final_checks; /* command lines that the agent never sees */
	const char *hold_out; /* a folder for these alone, or NULL */
	json_t *check_cache;  /* folders in the project that only the checks see */
	json_t *pin, *unpin;  /* patterns of pinned files (project/pins.h) */
	bool prove_check;     /* every check must fail when the code is broken */
	const char *promise, *tasks;
};

/* Alerts and notifications, as in the settings. */
struct op_start_watch {
	json_t *alerts;           /* changes to the rules (alert/alert.h) */
	json_t *targets, *events; /* of notifications (notify/notify_target.h) */
};

/* Where the agent writes; the order of the setting's choices. */
enum op_start_workspace {
	OP_START_DRAFT,    /* a draft of the project (draft/draft.h) */
	OP_START_WORKTREE, /* a work tree of its own */
	OP_START_IN_PLACE, /* the project itself */
};

/* All pointers are borrowed. */
struct op_start_request {
	struct fence_place *place; /* op_start_prepare() moves it to the work tree, if any */
	struct fence_spec *spec;   /* its paths are moved as well */
	const char *here;          /* the base of the spec's relative paths */
	enum op_start_workspace workspace;
	int64_t min_free_bytes;
	struct draft_request draft;     /* its kind, size and progress; the rest is set here */
	snapshot_progress_fn *progress; /* called while the project is saved, or NULL */
	const char *loop_id;            /* the id that the loop gets, or NULL for a new one */
	const char *name;               /* by which the user calls it, or NULL */
	const char *from, *with;        /* loops that it begins with (op_start_from.h), or NULL */

	/* Used from op_start_plan() on. */
	const char *objective;
	/* In the order of preference, then stronger ones to climb to, then those of phases. */
	struct op_start_agent agents[OP_START_AGENTS_MAX];
	size_t agent_count, rung_count; /* of the first two */
	struct op_start_phase phases[OP_START_PHASES_MAX];
	size_t phase_count;           /* 0: there are no phases */
	struct op_start_agent review; /* without an adapter: there is no review */
	const char *session;          /* "fresh" or "continue" */
	struct op_start_goal goal;
	struct op_start_watch watch;
	const json_t *limits; /* named as in the journal */
	const char *prices;   /* the user's prices.txt, or empty */
	json_t *estimate;     /* of cost and time, to compare with later; or NULL */
};

struct op_start_result {
	bool recovered; /* an interrupted apply was finished first */
	struct op_worktree_result worktree;
	struct op_start_draft draft; /* without an id if there is none */
	struct op_start_draft_result made;
	struct op_start_from from;
	json_t *config;         /* the loop's configuration, as stored in the journal */
	struct fence_plan plan; /* of the loop's fence */
	bool planned;
	char *no_sessions; /* the folder that cannot store the agent's sessions, or NULL */
	struct client_loop loop;
};

#define OP_START_INIT \
	((struct op_start_result){ .worktree = OP_WORKTREE_INIT, .draft = OP_START_DRAFT_INIT })

/* Each step continues from the result of the previous one. */
enum op_status op_start_prepare(const struct op_start_request *request,
				struct op_start_result *result, struct error *err);
enum op_status op_start_plan(const struct op_start_request *request, struct op_start_result *result,
			     struct error *err);

/* Plans by a configuration that was made before, in place of op_start_plan(). The request needs
 * only what op_start_prepare() needs. */
enum op_status op_start_plan_stored(const struct op_start_request *request, const json_t *config,
				    struct op_start_result *result, struct error *err);

/* Returns OP_RUNNING if another loop is running in the project. */
enum op_status op_start(const struct op_start_request *request, struct op_start_result *result,
			struct error *err);
void op_start_release(const struct op_start_request *request, struct op_start_result *result);

#endif
