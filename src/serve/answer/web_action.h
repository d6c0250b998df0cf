/* Actions of a person on a loop, from the web page (ops/op_action.h). */
#ifndef SERVE_ANSWER_WEB_ACTION_H
#define SERVE_ANSWER_WEB_ACTION_H

#include "serve/answer/web_ask.h"

int web_action_answer(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);

#endif
