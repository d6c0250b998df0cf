/* Prints the events of a loop's journal: plain lines, or one JSON object a line for programs. */
#ifndef CLI_VIEW_EVENT_PRINT_H
#define CLI_VIEW_EVENT_PRINT_H

#include "cli/view/event_text.h"

void event_print(struct event_text *view, const struct journal_event *event);

#endif
