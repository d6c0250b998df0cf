/* One loop, for the web page. */
#ifndef SERVE_ANSWER_WEB_LOOP_H
#define SERVE_ANSWER_WEB_LOOP_H

#include "serve/answer/web_ask.h"

/* Returns the present of a loop, which the caller owns. Without its clock, which web_loop_clock()
 * adds, it is the same as long as nothing happens. */
json_t *web_loop_present(const struct client_loop *loop);
void web_loop_clock(json_t *object, const struct client_loop *loop, int64_t now_ms);

int web_loop_answer(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);

#endif
