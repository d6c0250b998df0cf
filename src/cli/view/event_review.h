/* Prints what was found in the changes of an agent: by detectors, a reviewer, or code that was
 * broken on purpose. */
#ifndef CLI_VIEW_EVENT_REVIEW_H
#define CLI_VIEW_EVENT_REVIEW_H

#include "cli/view/event_text.h"

void event_review_examined(struct event_text *view, const json_t *data);
void event_review_begins(struct event_text *view, const json_t *data);
void event_review_ended(struct event_text *view, const json_t *data);

/* Prints whether checks noticed that code was broken. kind: LOOP_EVENT_proved or _mutated. */
void event_review_trial(struct event_text *view, int kind, const json_t *data);

#endif
