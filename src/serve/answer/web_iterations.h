/* The iterations of a loop, for the web page: a window of them, all of them as a series of bounded
 * size, and one in detail. */
#ifndef SERVE_ANSWER_WEB_ITERATIONS_H
#define SERVE_ANSWER_WEB_ITERATIONS_H

#include "serve/answer/web_ask.h"
#include "view/view_iterations.h"

int web_iterations_answer(const struct web_ask *ask, struct web_ask_answer *answer,
			  struct error *err);
int web_iterations_series(const struct web_ask *ask, struct web_ask_answer *answer,
			  struct error *err);
int web_iterations_one(const struct web_ask *ask, struct web_ask_answer *answer,
		       struct error *err);

#endif
