/* Prints the denials of a run, and the files that the fence quarantined or flagged. */
#ifndef CLI_VIEW_EVENT_FOUND_H
#define CLI_VIEW_EVENT_FOUND_H

#include "cli/view/event_text.h"

/* Prints the first of each by name. data: of the event that ends the run; name: how the name of the
 * run's report begins, such as "check-1.". */
void event_found_print(struct event_text *view, const json_t *data, const char *name);

#endif
