/*
 * Types and helpers that all operations share.
 *
 * An operation changes a loop or a project on behalf of any front end: a command, a screen or a web
 * page. It reads a request, fills in a result, and never prints, exits or reads from a terminal.
 * Every operation has the same signature:
 *
 *	enum op_status op_clean(const struct op_clean_request *request,
 *				struct op_clean_result *ret_result, struct error *err);
 *
 * The result is set whatever the status is; the caller releases it. If the user has to agree first,
 * the operation changes nothing and returns OP_ASKS with a question. The caller shows the question
 * and calls again with its token. The token covers exactly what was shown: if anything has changed
 * in the meantime, the operation asks again.
 */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "loop/client.h"
#include "util/error.h"
#include "util/text/sha256.h"

#include <stdbool.h>
#include <stddef.h>

enum op_status {
	OP_DONE,
	OP_UNCHANGED, /* nothing to do */
	OP_ASKS,      /* the user has to agree first */

	/* For all statuses below, err is set. */
	OP_NOT_FOUND,   /* no such loop or checkpoint */
	OP_DAMAGED,     /* the journal is unreadable */
	OP_RUNNING,     /* a running loop prevents the operation */
	OP_NOT_RUNNING, /* the operation needs a running loop */
	OP_ENDED,       /* the loop has already ended */
	OP_TIMED_OUT,
	OP_INVALID, /* the request is invalid */
	OP_REFUSED, /* a rule forbids it */
	OP_FAILED,  /* possibly half-way; the result shows how far it got */
};

static inline bool op_failed(enum op_status status)
{
	return status >= OP_NOT_FOUND;
}

/* Maps an error to the status that an operation returns for it. */
enum op_status op_status_of(const struct error *err);

enum op_question_kind {
	OP_QUESTION_NONE,
	OP_QUESTION_TRUST,    /* settings that widen the fence */
	OP_QUESTION_REMOVE,   /* loops that will be removed */
	OP_QUESTION_RESTORE,  /* paths that will change */
	OP_QUESTION_EXECUTED, /* files that this machine will execute unasked */
	OP_QUESTION_PINNED,   /* pinned files that an agent changed */
	OP_QUESTION_ACT,      /* an action of a person (op_action.h) */
};

/* One thing that the user agrees to. Any member may be NULL. */
struct op_item {
	char *name;  /* a setting's key, a loop's id, or a path in the project */
	char *value; /* a setting's value, the status of a loop or path; a file: see op_apply.h */
	char *where; /* where a setting is defined, a loop's project, or the result with a file */
	char *why;   /* what a setting means, or why a file needs a yes */
};

struct op_question {
	enum op_question_kind kind;
	char *text; /* the question itself, in one sentence */
	struct op_item *items;
	size_t count;
	char token[SHA256_HEX];
};

/* The user's answer; all zero if the user has not answered yet. */
struct op_answer {
	bool to_all;       /* yes to every question */
	const char *token; /* yes to the question with this token, or NULL */
	bool no;           /* no to that question; where an operation can do the rest without it */
};

/* Adds a copy of the item. */
void op_question_add(struct op_question *question, const struct op_item *item);

/* Completes a question whose items have been added: sets its kind and text, and computes its token.
 * Takes ownership of text. */
void op_question_set(struct op_question *question, enum op_question_kind kind, char *text);
void op_question_release(struct op_question *question);

/* Returns whether the user has agreed to exactly this question. */
bool op_agreed(const struct op_answer *answer, const struct op_question *question);

/* Returns whether the user has declined exactly this question. */
bool op_declined(const struct op_answer *answer, const struct op_question *question);

/* The loop that an operation works on. */
struct op_target {
	const char *state;   /* Ringfence's state folder */
	const char *project; /* its newest loop is used if loop is NULL */
	const char *loop;    /* an id, or NULL */
};

/* Finds the target's loop. Returns OP_DAMAGED for a loop with an unreadable journal; *ret_loop is
 * then set as well. */
enum op_status op_find(const struct op_target *target, struct client_loop *ret_loop,
		       struct error *err);

/* Removes all checkpoints of a loop or draft, and adds the freed bytes. Returns 0, or -1 with err
 * set. */
int op_drop_checkpoints(const char *state, const char *project, const char *id, uint64_t *bytes,
			struct error *err);

/* Keeps a supervisor from starting while *ret_lock is open. Returns OP_RUNNING if the loop already
 * has one. */
enum op_status op_hold(const struct client_loop *loop, int *ret_lock, struct error *err);

#endif
