/* Prints how an agent or a check ended, from the data of its event. */
#ifndef CLI_VIEW_EVENT_RUN_H
#define CLI_VIEW_EVENT_RUN_H

#include "cli/view/event_text.h"

/* An agent, with its cost and what was found. */
void event_run_ended(struct event_text *view, const json_t *data);

/* The gateway's count of an agent or a reviewer, and its own if it differs. */
void event_run_cost(struct event_text *view, const json_t *data);

/* A check of the loop. */
void event_run_checked(struct event_text *view, const json_t *data);

/* A check whose output is not shown: "final check", "phase check". */
void event_run_apart(struct event_text *view, const char *what, const json_t *data);

#endif
