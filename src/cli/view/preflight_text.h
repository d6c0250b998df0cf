/* The items of a preflight, for people and programs. */
#ifndef CLI_VIEW_PREFLIGHT_TEXT_H
#define CLI_VIEW_PREFLIGHT_TEXT_H

#include "preflight/preflight_items.h"

/* Print all items on stdout. */
void preflight_text_print(const struct preflight_items *items);
void preflight_text_print_json(const struct preflight_items *items);

/* Prints a notice for each warning and failure that `run` does not report in its own way. */
void preflight_text_notice(const struct preflight_items *items);

#endif
