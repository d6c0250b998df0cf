/* The process that answers one request of the web page: it reads the request from a descriptor, and
 * writes "CODE TYPE", a newline and the body to another one. */
#ifndef SERVE_ANSWER_WEB_ANSWER_H
#define SERVE_ANSWER_WEB_ANSWER_H

#include "loop/client.h"
#include "util/error.h"

struct web_answer_request {
	const char *state; /* the state folder */
	int input, output;
	void (*before)(const void *context, const struct client_loop *loop); /* see web_ask.h */
	const void *context;
};

/* Returns 0, or -1 with err set if nothing was written. */
int web_answer_run(const struct web_answer_request *from, struct error *err);

#endif
