/* The process that answers one request of the web page: it reads the request from a descriptor, and
 * writes "CODE TYPE", a newline and the body to another one. */
#ifndef SERVE_ANSWER_WEB_ANSWER_H
#define SERVE_ANSWER_WEB_ANSWER_H

#include "util/error.h"

/* state: the state folder. Returns 0, or -1 with err set if nothing was written. */
int web_answer_run(const char *state, int input, int output, struct error *err);

#endif
