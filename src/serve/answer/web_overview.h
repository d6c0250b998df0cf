/* All loops and batches, for the web page. */
#ifndef SERVE_ANSWER_WEB_OVERVIEW_H
#define SERVE_ANSWER_WEB_OVERVIEW_H

#include "serve/answer/web_ask.h"
#include "view/view_row.h"

/* Returns a row without its clock, which web_overview_clock() adds. The caller owns it. */
json_t *web_overview_row(const struct view_row *row);
void web_overview_clock(json_t *object, const struct view_row *row, int64_t now_ms);

int web_overview_answer(const struct web_ask *ask, struct web_ask_answer *answer,
			struct error *err);

#endif
