/*
 * Starting a loop, in three steps that one request and one result go through:
 *
 *	op_start_prepare()  finds room on the disks and, if asked for, makes a work tree
 *	op_start_plan()     decides what the loop will be; nothing is started, and all can be shown
 *	op_start()          starts exactly that
 *
 * The caller chooses the agent and the goal between the first two: both depend on where the loop
 * will work. op_start_release() takes back what a loop that has not begun leaves behind.
 */
#ifndef OPS_OP_START_H
#define OPS_OP_START_H

#include "agent/adapter.h"
#include "fence/fence_place.h"
#include "fence/fence_plan.h"
#include "fence/fence_spec.h"
#include "ops/op.h"
#include "ops/op_worktree.h"

#include <jansson.h>
#include <stdint.h>

struct op_start_agent {
	const struct adapter *adapter;
	const char *command; /* for sh -c */
	const char *format;
	const char *model;   /* NULL: the agent's own choice */
	const char *login;   /* a credential file that it gets a copy of; NULL: none */
	const char *session; /* "fresh" or "continue" */
};

struct op_start_goal {
	json_t *checks; /* command lines */
	bool found;     /* the check is the project's own */
	const char *promise, *tasks;
};

/* All borrowed. */
struct op_start_request {
	struct fence_place
		*place;          /* the user's project; from op_start_prepare() on, the work tree */
	struct fence_spec *spec; /* its paths move along */
	const char *here;        /* what its relative paths are relative to */
	bool worktree;
	int64_t min_free_bytes;

	/* For op_start_plan(). */
	const char *objective;
	struct op_start_agent agent;
	struct op_start_goal goal;
	const json_t *limits; /* as the journal names them */
	const char *prices;   /* the user's own; empty: none */
};

struct op_start_result {
	bool recovered; /* an apply that was cut off has been finished first */
	struct op_worktree_result worktree;
	json_t *config;         /* all that the loop is, as the journal keeps it */
	struct fence_plan plan; /* of every run in its fence */
	bool planned;
	char *no_sessions; /* a folder that cannot keep the agent's sessions; NULL: all is well */
	struct client_loop loop;
};

#define OP_START_INIT ((struct op_start_result){ .worktree = OP_WORKTREE_INIT })

/* Each takes the result of the one before. */
enum op_status op_start_prepare(const struct op_start_request *request,
				struct op_start_result *result, struct error *err);
enum op_status op_start_plan(const struct op_start_request *request, struct op_start_result *result,
			     struct error *err);

/* OP_RUNNING: another loop is at work in the project. */
enum op_status op_start(const struct op_start_request *request, struct op_start_result *result,
			struct error *err);
void op_start_release(const struct op_start_request *request, struct op_start_result *result);

#endif
