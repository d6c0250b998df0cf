/* The sizes of a prompt's parts, for people and as JSON. */
#ifndef CLI_VIEW_PROMPT_TEXT_H
#define CLI_VIEW_PROMPT_TEXT_H

#include "loop/client.h"

/* Prints a line for each part that is not empty, and one for the whole. */
void prompt_text_print_sizes(const struct prompt *prompt);

/* Returns the same as JSON: [{"part", "bytes", "tokens"}, ...]. The caller owns it. */
json_t *prompt_text_sizes(const struct prompt *prompt);

#endif
