/* Actions of a person on a loop, from the web page (ops/op_action.h). */
#ifndef SERVE_ANSWER_WEB_ACTION_H
#define SERVE_ANSWER_WEB_ACTION_H

#include "ops/op_action.h"
#include "serve/answer/web_ask.h"

int web_action_answer(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);

/* Reads the body of an action into a request, whose texts belong to the body. Returns 0, or -1 with
 * err set. */
int web_action_read(const json_t *body, struct op_action_request *request, struct error *err);

#endif
