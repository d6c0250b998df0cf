/*
 * The actions of a person on a loop, from a screen or a web page, as one table: when each is
 * offered, what it needs, and its question. Every action runs in the same way:
 *
 *	status = op_action_run(&request, &result, &err);
 *	if (status == OP_ASKS)
 *		... show result.question; after a yes, run it again with the question's token
 *
 * There is never a second question. The token covers what was shown: if that has changed in the
 * meantime, the action asks again. All texts are untrusted, and not escaped.
 */
#ifndef OPS_OP_ACTION_H
#define OPS_OP_ACTION_H

#include "ops/op.h"
#include "project/path_group.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define OP_ACTIONS(X)                                              \
	X(pause)                                                   \
	X(resume)                                                  \
	X(answer) /* text for an agent that is blocked; resumes */ \
	X(accept) /* all findings; resumes */                      \
	X(tell)   /* text for the next prompt */                   \
	X(abort)                                                   \
	X(roll_back) /* to a checkpoint */                         \
	X(apply)     /* the files of a draft, or the commits */    \
	X(clean)     /* removes the loop */

enum op_action {
#define OP_ACTION(name) OP_ACTION_##name,
	OP_ACTIONS(OP_ACTION)
#undef OP_ACTION
		OP_ACTION_COUNT
};

enum op_action_input { OP_ACTION_NOTHING, OP_ACTION_TEXT, OP_ACTION_CHECKPOINT };

struct op_action_form {
	const char *name;  /* for programs: "roll-back" */
	const char *title; /* for people: "Roll back" */
	const char *about; /* what it does, as a sentence */
	char key;          /* on a screen; no two actions have the same */
	enum op_action_input input;
	bool loses; /* work or logs may be lost */
};

struct op_action_request {
	const char *state; /* Ringfence's state folder */
	const char *loop;  /* an id */
	enum op_action action;
	const char *text;   /* for OP_ACTION_TEXT, as typed */
	bool now;           /* tell: stop the agent; abort: send KILL at once */
	int64_t checkpoint; /* for OP_ACTION_CHECKPOINT */
	const char *token;  /* of the question that the user said yes to, or NULL */

	/* apply: groups of a draft's files that are left out. Commits are applied as they are. */
	bool leaves[PATH_GROUP_COUNT];

	/* For actions that resume the loop: see op_resume.h. NULL: no changes. */
	json_t *changes;
	void (*before)(const void *context, const struct client_loop *loop);
	const void *context;
};

struct op_action_result {
	char *text;                  /* what was done, as a sentence; or NULL */
	struct op_question question; /* with OP_ASKS */
	json_t *details;             /* apply: "changes", "groups", "conflicts", "kind"; or NULL */
};

const struct op_action_form *op_action_form(enum op_action action);

/* Finds an action by its name. Returns 0, or -1 if there is none. */
int op_action_find(const char *name, enum op_action *ret_action);

/* Returns whether an action makes sense for a loop as it is now. To run another one is not harmful:
 * the operation refuses it. */
bool op_action_is_offered(enum op_action action, const struct client_loop *loop);

enum op_status op_action_run(const struct op_action_request *request,
			     struct op_action_result *ret_result, struct error *err);
void op_action_release(struct op_action_result *result);

/* The action `apply`, which op_action_run() calls with the loop. */
enum op_status op_action_apply(const struct op_action_request *request,
			       const struct client_loop *loop, struct op_action_result *result,
			       struct error *err);

#endif
