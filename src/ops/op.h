/*
 * The shape that all operations share.
 *
 * An operation changes a loop or a project for any front end: a command, a screen, a page. It takes
 * a request, fills a result, and never prints, exits, or reads a terminal. All have one shape:
 *
 *	enum op_status op_clean(const struct op_clean_request *request,
 *				struct op_clean_result *ret_result, struct error *err);
 *
 * The result is set whatever the status is, and the caller releases it. Where a person has to
 * agree, the operation changes nothing and returns OP_ASKS with a question. The caller shows it and
 * calls again with the question's token, which stands for exactly what was shown: if that has
 * changed meanwhile, the question comes again.
 */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "loop/client.h"
#include "util/error.h"
#include "util/sha256.h"

#include <stdbool.h>
#include <stddef.h>

enum op_status {
	OP_DONE,
	OP_UNCHANGED, /* there was nothing to do */
	OP_ASKS,      /* a person has to agree first */

	/* From here on the error says why. */
	OP_NOT_FOUND,   /* there is no such loop, or no checkpoint of that number */
	OP_DAMAGED,     /* the journal cannot be read */
	OP_RUNNING,     /* a loop is at work, and must not be */
	OP_NOT_RUNNING, /* a loop has stopped, and must not have */
	OP_ENDED,       /* the loop has come to its end */
	OP_TIMED_OUT,
	OP_INVALID, /* the request makes no sense */
	OP_REFUSED, /* a rule forbids it */
	OP_FAILED,  /* a part may be done: the result says which */
};

static inline bool op_failed(enum op_status status)
{
	return status >= OP_NOT_FOUND;
}

/* The status of an operation that ends with this error. */
enum op_status op_status_of(const struct error *err);

enum op_question_kind {
	OP_QUESTION_NONE,
	OP_QUESTION_TRUST,    /* settings that widen the fence */
	OP_QUESTION_REMOVE,   /* loops that will be gone */
	OP_QUESTION_RESTORE,  /* paths that will change */
	OP_QUESTION_EXECUTED, /* files that this machine will execute by itself */
};

/* One thing that a person agrees to. NULL: there is nothing to say. */
struct op_item {
	char *name;  /* the key of a setting, the id of a loop, a path in the project */
	char *value; /* of a setting; the status of a loop or of a path */
	char *where; /* where a setting stands; the project of a loop */
	char *why;   /* what a setting means; why a file will be executed */
};

struct op_question {
	enum op_question_kind kind;
	char *text; /* the question itself, in one sentence */
	struct op_item *items;
	size_t count;
	char token[SHA256_HEX];
};

/* A person's answer, as far as the caller has it. Zero: none yet. */
struct op_answer {
	bool to_all;       /* yes, whatever is asked */
	const char *token; /* yes to the question with this token; NULL: there was none */
};

/* Copies the texts. */
void op_question_add(struct op_question *question, const struct op_item *item);

/* Gives a question its words, takes them over, and its token. */
void op_question_set(struct op_question *question, enum op_question_kind kind, char *text);
void op_question_release(struct op_question *question);

/* Has a person agreed to exactly this? */
bool op_agreed(const struct op_answer *answer, const struct op_question *question);

/* Which loop is meant. */
struct op_target {
	const char *state;   /* Ringfence's own folder */
	const char *project; /* its newest loop, if no loop is named */
	const char *loop;    /* an id, or NULL */
};

/* Finds it. A damaged one is OP_DAMAGED, and *ret_loop is set. */
enum op_status op_find(const struct op_target *target, struct client_loop *ret_loop,
		       struct error *err);

/* Keeps a supervisor from beginning as long as *ret_lock is open. OP_RUNNING: there is one. */
enum op_status op_hold(const struct client_loop *loop, int *ret_lock, struct error *err);

#endif
