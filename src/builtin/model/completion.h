/*
 * One question to a model, until there is an answer: tried again as the server says, and not more often than makes sense.
 *
 * Waiting for long is the loop's affair, which knows what it costs: a wait that is too long ends the question, with the time
 * at which it is over.
 */
#ifndef BUILTIN_MODEL_COMPLETION_H
#define BUILTIN_MODEL_COMPLETION_H

#include "builtin/model/dialect.h"
#include "builtin/model/httpclient.h"
#include "builtin/model/reply.h"
#include "failure/failure.h"

enum {
	COMPLETION_TRIES = 4,          /* in a row without an answer */
	COMPLETION_LONGEST_MS = 60000, /* that is waited for here */
	COMPLETION_LINES = 8192,       /* bytes of the lines of a head */
};

/* Whom to ask. */
struct completion {
	const struct dialect *dialect;
	struct httpclient link;
	char *lines; /* of the head: version and key */
	char *model;
	bool local; /* a server of the user's own */
};

struct completion_end {
	enum failure failure;
	bool too_long;    /* the conversation does not fit into the model's window */
	int64_t reset_at; /* of a limit: seconds since the epoch; 0: not said */
	struct error why;
};

/* The type of the event that tells of it, for say_trouble(). */
const char *completion_event(const struct completion_end *end);

void completion_release(struct completion *ask);

/* Asks. The answer is initialised here, and is the caller's to release. calls: how many there were before. */
void completion_request(struct completion *ask, const char *body, size_t size, size_t calls,
			struct reply *answer, struct completion_end *ret_end);

/* The first model that the server has, and its window in tokens (0: not said). The caller frees *ret_model. Returns 0, or -1
 * with what went wrong, which has the class that it would have of a message. */
int completion_first_model(struct completion *ask, char **ret_model, uint64_t *ret_window,
			   struct completion_end *ret_end);

/* Does this refusal mean that the conversation is too long? */
bool completion_is_too_long(unsigned int status, const char *body);

#endif
