/* The estimate of a loop as text, also beside what the loop has cost. */
#ifndef CLI_VIEW_ESTIMATE_TEXT_H
#define CLI_VIEW_ESTIMATE_TEXT_H

#include "loop/client.h"
#include "settings/outlook.h"

/* Prints the estimate as a table, and what it is based on. */
void estimate_text_print(const struct outlook *outlook);

/* Describes an estimate, as it is kept in the journal, in a line: "US$ 0.40 (0.03 to 9.80), 14m (1m
 * to 6h)". The caller frees it. */
char *estimate_text(const json_t *estimate);

/* Compares the estimate of a loop with what it has cost so far. Returns NULL if there is none; the
 * caller frees it. */
char *estimate_text_compare(const struct client_loop *loop);

/* The time that a loop has worked, without pauses, in milliseconds. */
int64_t estimate_text_worked_ms(const struct client_loop *loop);

#endif
