/* One iteration of a loop in detail, for the web page. */
#ifndef SERVE_ANSWER_WEB_ITERATION_H
#define SERVE_ANSWER_WEB_ITERATION_H

#include "serve/answer/web_ask.h"

int web_iteration_answer(const struct web_ask *ask, struct web_ask_answer *answer,
			 struct error *err);

#endif
