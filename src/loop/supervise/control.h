/*
 * The control protocol of a supervisor: one JSON object per packet over a unix socket in the loop's
 * folder, and one answer for each. Anyone who can open the folder may send requests.
 */
#ifndef LOOP_SUPERVISE_CONTROL_H
#define LOOP_SUPERVISE_CONTROL_H

#include "loop/state/loop_event.h"
#include "util/error.h"

#include <jansson.h>

enum { CONTROL_BYTES = 65536 };

/* The requests. The name is the word in the request, and the wish in the journal. */
#define CONTROL_REQUESTS(X)                                                               \
	X(pause) /* after this iteration */                                               \
	X(abort) /* gracefully; with "now": at once */                                    \
	X(reset) /* the breakers clear their counts */                                    \
	X(tell)  /* "text" for the next prompt; with "now": the iteration starts again */ \
	X(limit) /* "max_cost_nusd": what the loop may cost from now on */

enum control_request {
#define CONTROL_REQUEST(name) CONTROL_REQUEST_##name,
	CONTROL_REQUESTS(CONTROL_REQUEST)
#undef CONTROL_REQUEST
		CONTROL_REQUEST_COUNT
};

const char *control_request_name(enum control_request request);

/* Reads which request an object is. Returns 0, or -1 if it is not a request. */
int control_request_read(const json_t *object, enum control_request *ret_request);

/* Returns the event that records a request. */
enum loop_event control_event(enum control_request request);

/* Is the request legal in this step? An illegal one ends the connection. */
bool control_is_legal(enum loop_step step, enum control_request request);

/* Returns the supervisor's listening socket (non-blocking), or -1 with err set. */
int control_listen(const char *folder, struct error *err);

/*
 * Reads one request from a client. Returns NULL if none has arrived (EAGAIN), the client is gone,
 * or it is not a JSON object. The caller owns it.
 */
json_t *control_read(int client);

/* Sends an answer. It is dropped if the client does not read it. */
void control_answer(int client, json_t *answer);

/*
 * Sends a request to a supervisor and waits for its consent. Returns 0, or -1 with err set:
 * ERROR_REFUSED if it did not consent, ERROR_PROTOCOL if the answer is invalid.
 */
int control_ask(const char *folder, json_t *request, struct error *err);

#endif
