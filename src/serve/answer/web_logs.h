/* The logs of an iteration, for the web page: which there are, their entries, searching them, and
 * the prompt. */
#ifndef SERVE_ANSWER_WEB_LOGS_H
#define SERVE_ANSWER_WEB_LOGS_H

#include "serve/answer/web_ask.h"

int web_logs_transcript(const struct web_ask *ask, struct web_ask_answer *answer,
			struct error *err);
int web_logs_search(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);
int web_logs_prompt(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);

/* Returns the path of the folder with the logs of an attempt. The caller frees it. */
char *web_logs_folder(const struct client_loop *loop, uint32_t iteration, uint32_t attempt);

/* Lists the logs of an attempt: "log", "title", "size". The caller owns the array. */
json_t *web_logs_list(const char *folder);

/* Reads a position, "OFFSET.ORDINAL". Returns 0, or -1 if it is malformed. */
int web_logs_position(const char *text, uint64_t *ret_offset, uint32_t *ret_ordinal);

#endif
