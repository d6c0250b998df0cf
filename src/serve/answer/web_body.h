/* The body of an action that the web page sends: untrusted JSON. */
#ifndef SERVE_ANSWER_WEB_BODY_H
#define SERVE_ANSWER_WEB_BODY_H

#include "ops/op_action.h"

/* Reads a body into a request, whose texts belong to the body. Returns 0, or -1 with err set. */
int web_body_read(const json_t *body, struct op_action_request *request, struct error *err);

#endif
