/* The iterations of a loop, for the web page: a window of them, and all of them as a series of
 * bounded size. */
#ifndef SERVE_ANSWER_WEB_ITERATIONS_H
#define SERVE_ANSWER_WEB_ITERATIONS_H

#include "serve/answer/web_ask.h"

int web_iterations_answer(const struct web_ask *ask, struct web_ask_answer *answer,
			  struct error *err);
int web_iterations_series(const struct web_ask *ask, struct web_ask_answer *answer,
			  struct error *err);

#endif
