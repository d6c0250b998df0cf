/*
 * How others talk to a supervisor: one JSON object a packet over a unix socket in the loop's folder, one
 * answer for each. Who may open the folder is who may ask.
 */
#ifndef LOOP_SUPERVISE_CONTROL_H
#define LOOP_SUPERVISE_CONTROL_H

#include "loop/state/loop_event.h"
#include "util/error.h"

#include <jansson.h>

enum { CONTROL_BYTES = 65536 };

/* What can be asked for. The name is the request's word, and the wish in the journal. */
#define CONTROL_REQUESTS(X)                     \
	X(pause) /* after this iteration */     \
	X(abort) /* in order; "now": at once */ \
	X(reset) /* the breakers forget what they have counted */

enum control_request {
#define CONTROL_REQUEST(name) CONTROL_REQUEST_##name,
	CONTROL_REQUESTS(CONTROL_REQUEST)
#undef CONTROL_REQUEST
		CONTROL_REQUEST_COUNT
};

const char *control_request_name(enum control_request request);

/* Which request an object is. Returns 0, or -1: it is none. */
int control_request_read(const json_t *object, enum control_request *ret_request);

/* May it be asked for in this phase? Whoever asks for something else is not answered again. */
bool control_is_legal(enum loop_phase phase, enum control_request request);

/* The supervisor's end: a listening socket (not blocking), or -1 with err set. */
int control_listen(const char *folder, struct error *err);

/* One request from a client, or NULL: none yet (EAGAIN), gone, or no JSON object. The caller owns it. */
json_t *control_read(int client);

/* Answers. A client that does not take it has bad luck. */
void control_answer(int client, json_t *answer);

/* Asks a supervisor and waits until it has agreed. Returns 0, or -1 with err set: ERROR_REFUSED if it has
 * not agreed, ERROR_PROTOCOL if what it said is no answer. */
int control_ask(const char *folder, json_t *request, struct error *err);

#endif
