/*
 * One question to a model, until there is an answer: tried again as the server says, and not more often than makes sense.
 *
 * Waiting for long is the loop's affair, which knows what it costs: a wait that is too long ends the question, with the time
 * at which it is over.
 */
#ifndef BUILTIN_ASK_H
#define BUILTIN_ASK_H

#include "builtin/answer.h"
#include "builtin/dialect.h"
#include "builtin/link.h"

enum {
	ASK_TRIES = 4,          /* in a row without an answer */
	ASK_LONGEST_MS = 60000, /* that is waited for here */
	ASK_LINES = 8192,       /* bytes of the lines of a head */
};

/* Whom to ask. */
struct ask {
	const struct dialect *dialect;
	struct link link;
	char *lines; /* of the head: version and key */
	char *model;
	bool local; /* a server of the user's own */
};

enum ask_failure {
	ASK_FINE,
	ASK_LIMIT, /* the provider's: come back later */
	ASK_OVERLOADED,
	ASK_AUTH,   /* key or account */
	ASK_BUDGET, /* Ringfence's own limit of money */
	ASK_NETWORK,
	ASK_TOO_LONG, /* the conversation does not fit into the model's window */
	ASK_OTHER,
	ASK_FAILURES
};

/* As say_trouble() names them. */
extern const char *const ask_failure_names[ASK_FAILURES];

struct ask_end {
	enum ask_failure failure;
	int64_t reset_at; /* of a limit: seconds since the epoch; 0: not said */
	struct error why;
};

void ask_release(struct ask *ask);

/* Asks. The answer is initialised here, and is the caller's to release. calls: how many there were before. */
void ask_model(struct ask *ask, const char *body, size_t size, size_t calls, struct answer *answer,
	       struct ask_end *ret_end);

/* The first model that the server has, and its window in tokens (0: not said). The caller frees *ret_model. Returns 0, or -1
 * with what went wrong, which has the class that it would have of a message. */
int ask_first_model(struct ask *ask, char **ret_model, uint64_t *ret_window,
		    struct ask_end *ret_end);

/* Does this refusal mean that the conversation is too long? */
bool ask_is_too_long(unsigned int status, const char *body);

#endif
