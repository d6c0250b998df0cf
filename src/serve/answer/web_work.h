/* The work of loops and work lists, for the web page: tools, changes, checkpoints, reports. */
#ifndef SERVE_ANSWER_WEB_WORK_H
#define SERVE_ANSWER_WEB_WORK_H

#include "serve/answer/web_ask.h"

int web_work_tools(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);
int web_work_changes(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);
int web_work_diff(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);
int web_work_checkpoints(const struct web_ask *ask, struct web_ask_answer *answer,
			 struct error *err);
int web_work_report(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);
int web_work_batch(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);
int web_work_metrics(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);

#endif
