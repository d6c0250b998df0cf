/*
 * Requests a reply from a model, retrying as the server asks and within reason.
 *
 * Long waits are left to the loop, which knows their cost: if a wait would be too long, the request
 * fails with the time at which the limit ends.
 */
#ifndef BUILTIN_MODEL_COMPLETION_H
#define BUILTIN_MODEL_COMPLETION_H

#include "builtin/model/dialect.h"
#include "builtin/model/httpclient.h"
#include "builtin/model/reply.h"
#include "failure/failure.h"

enum {
	COMPLETION_TRIES = 4,          /* attempts in a row */
	COMPLETION_LONGEST_MS = 60000, /* longest wait between attempts */
};

/* The model and its server. */
struct completion {
	const struct dialect *dialect;
	struct httpclient client;
	char *lines; /* header lines: version and key */
	char *model;
	bool local; /* a server of the user's own */
};

struct completion_end {
	enum failure failure;
	int64_t reset_at; /* of a limit: seconds since the epoch; 0: unknown */
	struct error why;
};

/* Returns the event type for this failure, for emit_error(). */
const char *completion_event(const struct completion_end *end);

void completion_release(struct completion *completion);

/*
 * Requests a reply. `answer` is initialised here, and the caller releases it. `calls` is the number
 * of tool calls so far.
 */
void completion_request(struct completion *completion, const char *body, size_t size, size_t calls,
			struct reply *answer, struct completion_end *ret_end);

/*
 * Returns the server's first model, which the caller frees, and its window in tokens (0: unknown).
 * Returns 0, or -1 with the failure classified as for a message.
 */
int completion_first_model(struct completion *completion, char **ret_model, uint64_t *ret_window,
			   struct completion_end *ret_end);

#endif
