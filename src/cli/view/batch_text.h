/* Batches as text for people: a table of tasks, and a line for each event. */
#ifndef CLI_VIEW_BATCH_TEXT_H
#define CLI_VIEW_BATCH_TEXT_H

#include "batch/batch_client.h"
#include "worklist/worklist.h"

/* Prints a list as it was read, with what was not understood. */
void batch_text_print_list(const struct worklist *list);

/* Prints the batch with its tasks, and what to do next. applied: its result is in the project. */
void batch_text_print(const struct batch_client *batch, bool applied);

/* Prints a batch in a few lines, with the tasks that run or wait for a person, in place of their
 * loops. */
void batch_text_print_short(const struct batch_client *batch, bool applied, bool with_project);

/* Returns a line about an event, which the state has, or NULL if it is not worth one. The caller
 * frees it. */
char *batch_text_event(const struct batch_state *state, const struct journal_event *event);

#endif
