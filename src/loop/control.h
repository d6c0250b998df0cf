/*
 * How others talk to a supervisor: one JSON object a packet over a unix socket in the loop's folder, one
 * answer for each. Who may open the folder is who may ask.
 */
#ifndef LOOP_CONTROL_H
#define LOOP_CONTROL_H

#include "util/error.h"

#include <jansson.h>

enum { CONTROL_BYTES = 65536 };

/* The supervisor's end: a listening socket (not blocking), or -1 with err set. */
int control_listen(const char *folder, struct error *err);

/* One request from a client, or NULL: none yet (EAGAIN), gone, or no JSON object. The caller owns it. */
json_t *control_read(int client);

/* Answers. A client that does not take it has bad luck. */
void control_answer(int client, json_t *answer);

/* Asks a supervisor and waits for its answer, which is the caller's. NULL with err set. */
json_t *control_ask(const char *folder, json_t *request, struct error *err);

#endif
